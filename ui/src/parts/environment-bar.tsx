// Practice and integration are said in words, over stripes; production has no bar.

import type { StatusView } from "../bridge/generated/StatusView";
import { useText } from "../i18n/text";
import css from "./environment-bar.module.css";

export function EnvironmentBar({ status }: { status: StatusView }) {
  const text = useText();
  const { environment } = status;
  if (environment === "production") return null;
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
