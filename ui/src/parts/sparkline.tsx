// How often something happened, day by day: a picture of a sentence that stands beside it or in the list.

import css from "./sparkline.module.css";

const BAR = 4;
const GAP = 1.5;

export function Sparkline({ counts, height = 22 }: { counts: number[]; height?: number }) {
  const most = Math.max(1, ...counts);
  const width = counts.length * (BAR + GAP) - GAP;
  return (
    <svg className={css.sparkline} width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden>
      {counts.map((count, at) => {
        // A day without any is a line, so that the days can be counted.
        const tall = count === 0 ? 1 : Math.max(3, (count / most) * height);
        // oxlint-disable-next-line react/no-array-index-key -- a day is its place
        return (
          <rect
            key={at}
            x={at * (BAR + GAP)}
            y={height - tall}
            width={BAR}
            height={tall}
            rx={1}
            className={count === 0 ? css.none : css.some}
          />
        );
      })}
    </svg>
  );
}
