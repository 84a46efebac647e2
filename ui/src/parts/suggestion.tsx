// A cure that needs no judgement: what stands there, what should, and one press that puts it in.

import { Wand } from "lucide-react";

import type { SuggestionView } from "../bridge/generated/SuggestionView";
import { useText } from "../i18n/text";
import { Button } from "../kit/controls";
import css from "./suggestion.module.css";
import { useVeil } from "./veil";

export function Suggestion({ suggestion, onApply }: { suggestion: SuggestionView; onApply: (() => void) | undefined }) {
  const text = useText();
  const { hide } = useVeil();
  const { before, value } = suggestion;
  return (
    <div className={css.suggestion} data-testid="suggestion">
      <span className={`${css.words} selectable`}>
        <span className={css.label}>{text("suggestion.label")}</span>
        {before && (
          <del>
            <span className="visually-hidden">{text("suggestion.instead-of")} </span>
            {hide(before)}
          </del>
        )}
        {before && value && <span aria-hidden>→</span>}
        {value ? <ins>{hide(value)}</ins> : <span>{text("suggestion.remove")}</span>}
      </span>
      {onApply && (
        <Button icon={Wand} onPress={onApply} data-testid="apply-suggestion">
          {text("suggestion.apply")}
        </Button>
      )}
    </div>
  );
}
