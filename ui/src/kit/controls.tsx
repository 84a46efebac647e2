// Controls: React Aria underneath, our look on top.

import { Check, ChevronDown, Copy, Eye, EyeOff, Search, X } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import {
  Button as AriaButton,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField as AriaSearchField,
  Select as AriaSelect,
  SelectValue,
  Switch as AriaSwitch,
  Text as Help,
  TextArea,
  TextField as AriaTextField,
} from "react-aria-components";

import { useText } from "../i18n/text";
import css from "./controls.module.css";
import { copyText } from "./copy";

interface ButtonProps {
  children?: ReactNode;
  tone?: "primary" | "plain" | "quiet" | "danger";
  icon?: LucideIcon;
  label?: string;
  isDisabled?: boolean;
  isPending?: boolean;
  autoFocus?: boolean;
  type?: "button" | "submit";
  onPress?: () => void;
  slot?: "close";
  "aria-expanded"?: boolean;
  "data-testid"?: string;
}

/** `label` names a button that shows an icon only. One that is at work keeps the keyboard, and takes no press. */
export function Button({
  tone = "plain",
  icon: Icon,
  label,
  children,
  isPending,
  type,
  onPress,
  ...rest
}: ButtonProps) {
  // Not by the library's own word for it: that announces the button also once it has gone with its dialog.
  const atWork = isPending ? true : undefined;
  return (
    <AriaButton
      {...rest}
      type={atWork ? "button" : type}
      onPress={atWork ? undefined : onPress}
      aria-disabled={atWork}
      data-pending={atWork}
      aria-label={label}
      className={`${css.button} ${css[tone]} ${children ? "" : css.square}`}
    >
      {Icon && <Icon aria-hidden size={16} />}
      {children}
    </AriaButton>
  );
}

interface FieldProps {
  label: string;
  help?: string;
  /** What is wrong with what stands in it. */
  error?: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "password" | "url";
  rows?: number;
  isRequired?: boolean;
  autoFocus?: boolean;
  placeholder?: string;
  mono?: boolean;
  onFocus?: () => void;
  onBlur?: () => void;
  "data-testid"?: string;
}

export function TextField({
  label,
  help,
  error,
  rows,
  placeholder,
  mono,
  type,
  "data-testid": id,
  ...rest
}: FieldProps) {
  const look = `${css.input} ${mono ? css.mono : ""}`;
  const [seen, setSeen] = useState(false);
  const isSecret = type === "password" && rest.value !== "";
  return (
    <AriaTextField
      {...rest}
      type={isSecret && seen ? "text" : type}
      isInvalid={error !== undefined}
      className={css.field}
      autoComplete="off"
      spellCheck="false"
    >
      <Label className={css.label}>{label}</Label>
      {rows ? (
        <TextArea className={look} rows={rows} placeholder={placeholder} data-testid={id} />
      ) : (
        <span className={css.secret}>
          <Input className={look} placeholder={placeholder} data-testid={id} />
          {isSecret && <Seen seen={seen} onPress={() => setSeen(!seen)} />}
        </span>
      )}
      {help && (
        <Help slot="description" className={css.help}>
          {help}
        </Help>
      )}
      <FieldError className={css.error}>{error}</FieldError>
    </AriaTextField>
  );
}

/** Shows what was typed where it is hidden: a long password from a letter is typed in vain more often than not. */
function Seen({ seen, onPress }: { seen: boolean; onPress: () => void }) {
  const text = useText();
  const Icon = seen ? EyeOff : Eye;
  return (
    <AriaButton
      className={css.seen}
      aria-label={text(seen ? "password.hide" : "password.show")}
      onPress={onPress}
      data-testid="password-seen"
    >
      <Icon aria-hidden size={16} />
    </AriaButton>
  );
}

export function SearchField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  inputRef?: React.Ref<HTMLInputElement>;
  /** Escape where nothing is typed, or Enter or the arrow down: to what was searched. */
  onLeave?: () => void;
}) {
  const { label, inputRef, onLeave, ...rest } = props;
  const text = useText();
  const press = (event: React.KeyboardEvent) => {
    const leaves = event.key === "Enter" || event.key === "ArrowDown" || (event.key === "Escape" && props.value === "");
    if (!onLeave || !leaves) return;
    event.preventDefault();
    onLeave();
  };
  return (
    <AriaSearchField {...rest} aria-label={label} className={css.search}>
      <Search aria-hidden size={15} />
      <Input ref={inputRef} placeholder={label} className={css.searchInput} onKeyDown={press} />
      {props.value && (
        <AriaButton className={css.clear} aria-label={text("action.clear-search")}>
          <X aria-hidden size={14} />
        </AriaButton>
      )}
    </AriaSearchField>
  );
}

export interface Choice<Id extends string> {
  id: Id;
  name: string;
}

export function Select<Id extends string>(props: {
  label: string;
  hideLabel?: boolean;
  choices: Choice<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  quiet?: boolean;
  /** Stands where nothing is chosen. */
  placeholder?: string;
  "data-testid"?: string;
}) {
  const { label, choices, value, onChange, hideLabel, quiet, placeholder } = props;
  return (
    <AriaSelect
      className={css.field}
      // What is no choice is none.
      value={choices.some(({ id }) => id === value) ? value : null}
      placeholder={placeholder}
      onChange={(key) => onChange(key as Id)}
      aria-label={hideLabel ? label : undefined}
    >
      {!hideLabel && <Label className={css.label}>{label}</Label>}
      <AriaButton
        className={`${css.button} ${quiet ? css.quiet : css.plain} ${css.select}`}
        data-testid={props["data-testid"]}
      >
        <SelectValue className={css.selectValue} />
        <ChevronDown aria-hidden size={15} />
      </AriaButton>
      <Popover className={css.popover}>
        <ListBox className={css.menu} items={choices}>
          {(choice) => (
            <ListBoxItem className={css.option} textValue={choice.name}>
              {({ isSelected }) => (
                <>
                  <span className={css.tick}>{isSelected && <Check aria-hidden size={15} />}</span>
                  {choice.name}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

export function Switch(props: { children: ReactNode; isSelected: boolean; onChange: (on: boolean) => void }) {
  const { children, ...rest } = props;
  return (
    <AriaSwitch {...rest} className={css.switch}>
      <span className={css.track} aria-hidden>
        <span className={css.thumb} />
      </span>
      {children}
    </AriaSwitch>
  );
}

/** How long a button says that it has copied. */
const COPIED_MS = 1500;

/** Copies something, and says for a moment that it did. Nothing of it goes on where it is not shown any more. */
function useCopy(value: () => string): [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const moment = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(moment);
  }, [copied]);
  return [copied, () => void copyText(value()).then(setCopied)];
}

/** A text that people pass on, made when it is asked for. */
export function CopyButton(props: { label: string; value: () => string; "data-testid"?: string }) {
  const text = useText();
  const [copied, copy] = useCopy(props.value);
  return (
    <Button tone="quiet" icon={copied ? Check : Copy} onPress={copy} data-testid={props["data-testid"]}>
      <span aria-live="polite">{copied ? text("action.copied") : props.label}</span>
    </Button>
  );
}

/** A value that people pass on: monospaced, selectable, with a copy button. */
export function CopyValue({ name, value }: { name: string; value: string }) {
  const text = useText();
  const [copied, copy] = useCopy(() => value);
  return (
    <span className={css.copy}>
      <code className="selectable">{value}</code>
      <AriaButton className={css.copyButton} aria-label={text("action.copy-what", { what: name })} onPress={copy}>
        {copied ? <Check aria-hidden size={14} /> : <Copy aria-hidden size={14} />}
      </AriaButton>
      <span className="visually-hidden" aria-live="polite">
        {copied ? text("action.copied") : ""}
      </span>
    </span>
  );
}
