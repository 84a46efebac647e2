// What can be done in a bar: all of it side by side, and in a narrow window the first thing alone, with the rest in a menu.

import { Ellipsis } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

import { useText } from "../i18n/text";
import css from "./actions.module.css";
import { Button } from "./controls";
import controls from "./controls.module.css";

export interface BarAction {
  id: string;
  word: string;
  icon?: LucideIcon;
  tone?: "primary" | "plain" | "quiet";
  isPending?: boolean;
  autoFocus?: boolean;
  press: () => void;
  "data-testid"?: string;
}

/** `first`: what stands also where there is no room for more. `elsewhere`: what has a place of its own in a wide window. */
export function Actions(props: { actions: BarAction[]; first: BarAction | undefined; elsewhere?: BarAction[] }) {
  const { actions, first, elsewhere = [] } = props;
  const text = useText();
  const rest = [...elsewhere, ...actions].filter((action) => action !== first);
  const press = (key: React.Key) => rest.find(({ id }) => id === key)?.press();
  // What is under way takes no second press.
  const pending = rest.flatMap(({ id, isPending }) => (isPending ? [id] : []));
  return (
    <>
      {actions.map(({ id, word, press: onPress, ...action }) => (
        <span key={id} className={id === first?.id ? css.first : css.rest}>
          <Button {...action} onPress={onPress}>
            {word}
          </Button>
        </span>
      ))}
      {rest.length > 0 && (
        <span className={css.more}>
          <MenuTrigger>
            <Button tone="quiet" icon={Ellipsis} label={text("action.more")} data-testid="more-actions" />
            <Popover className={controls.popover}>
              <Menu className={controls.menu} aria-label={text("action.more")} disabledKeys={pending} onAction={press}>
                {rest.map(({ id, word, icon: Icon }) => (
                  <MenuItem key={id} id={id} className={controls.option} textValue={word}>
                    {Icon && <Icon aria-hidden size={16} />}
                    {word}
                  </MenuItem>
                ))}
              </Menu>
            </Popover>
          </MenuTrigger>
        </span>
      )}
    </>
  );
}
