// Practice and integration are said in words, over stripes; production has no bar, unless the laboratory is closed.

import type { StatusView } from "../bridge/generated/StatusView";
import { useText } from "../i18n/text";
import { closedOf } from "./closed";
import css from "./environment-bar.module.css";

export function EnvironmentBar({ status }: { status: StatusView }) {
  const text = useText();
  const { environment } = status;
  const closed = closedOf(status);
  if (closed) {
    return (
      <header className={`${css.bar} ${css.closed}`} data-testid="environment-bar" data-environment="closed">
        <span className={css.plate}>
          <strong>{text(`closed.${closed}`)}</strong>
          <span>{text(`closed.${closed}.more`)}</span>
        </span>
      </header>
    );
  }
  // Where there is no authority, it is for nothing.
  if (environment === "production" || status.endpoint === "") return null;
  const kind = environment === "practice" ? "practice" : "integration";
  return (
    <header className={`${css.bar} ${css[kind]}`} data-testid="environment-bar" data-environment={environment}>
      <span className={css.plate}>
        <strong>{text(`environment.${kind}`)}</strong>
        <span>{text(`environment.${kind}.more`)}</span>
      </span>
    </header>
  );
}
