// Views of the list that this laboratory keeps: used, kept under a name, replaced and removed.

import { Bookmark, Check, ChevronDown, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  Button as AriaButton,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Separator,
} from "react-aria-components";

import { door } from "#door";

import type { SavedView } from "../bridge/generated/SavedView";
import { useCommand, useRefresh, useSavedViews } from "../bridge/queries";
import { useText } from "../i18n/text";
import { isSame } from "../view";
import type { View } from "../view";
import controls from "../kit/controls.module.css";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { useFilterNames } from "./filter-names";
import css from "./list-filters.module.css";
import { Notice, ProblemNote, problemText } from "../kit/notes";
import { say, sayProblem } from "../kit/toasts";
import { useWindow } from "../place";

/** Views that this laboratory keeps. A search may be a patient's name: they stand in its encrypted journal. */
export function SavedViews({ view, onUse }: { view: View; onUse: (view: View) => void }) {
  const text = useText();
  const views = useSavedViews();
  const [naming, setNaming] = useState(false);
  const forget = useCommand("forget_view");
  const kept = views.data ?? [];
  const current = kept.find((one) => isSame(one, view));
  const putBack = usePutBack();
  const remove = (view: SavedView) => {
    const undo = putBack(view);
    const onSuccess = () => say({ tone: "done", title: text("views.forgotten", { name: view.name }), undo });
    forget.mutate({ name: view.name }, { onSuccess, onError: sayProblem(text) });
  };
  const act = (key: string) => {
    if (key === "keep:") setNaming(true);
    else if (key === "again:") void views.refetch();
    else if (key === "forget:" && current) remove(current);
    else {
      const { name: _, ...filters } = kept.find((one) => `view:${one.name}` === key) ?? { name: "", ...view };
      onUse(filters);
    }
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton
          className={`${controls.button} ${controls.plain} ${css.filter} ${current ? css.inForce : ""}`}
          aria-label={current ? `${text("views.label")}: ${current.name}` : text("views.label")}
          data-testid="views"
        >
          <Bookmark aria-hidden size={15} />
          <span className={css.filterName}>{current?.name ?? text("views.label")}</span>
          <ChevronDown aria-hidden size={15} />
        </AriaButton>
        <Popover className={controls.popover}>
          <Menu className={controls.menu} aria-label={text("views.label")} onAction={(key) => act(String(key))}>
            {!views.data && views.error && (
              <MenuSection className={css.unread}>
                <Header className={css.problem}>{problemText(text, views.error).title}</Header>
                <MenuItem
                  id="again:"
                  className={controls.option}
                  isDisabled={views.isFetching}
                  shouldCloseOnSelect={false}
                  data-testid="read-again"
                >
                  <span className={controls.tick}>
                    <RefreshCw aria-hidden size={15} />
                  </span>
                  {text("action.again")}
                </MenuItem>
              </MenuSection>
            )}
            {kept.map((one) => (
              <MenuItem key={one.name} id={`view:${one.name}`} className={controls.option} textValue={one.name}>
                <span className={controls.tick}>{one === current && <Check aria-hidden size={15} />}</span>
                <span className={css.choice}>{one.name}</span>
              </MenuItem>
            ))}
            {kept.length > 0 && <Separator className={css.separator} />}
            {current ? (
              <MenuItem
                key="forget"
                id="forget:"
                className={controls.option}
                textValue={text("views.forget", { name: current.name })}
              >
                <span className={controls.tick}>
                  <Trash2 aria-hidden size={15} />
                </span>
                <span className={css.choice}>{text("views.forget", { name: current.name })}</span>
              </MenuItem>
            ) : (
              <MenuItem key="keep" id="keep:" className={controls.option} textValue={text("views.keep")}>
                <span className={controls.tick}>
                  <Bookmark aria-hidden size={15} />
                </span>
                {text("views.keep")}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      {naming && <KeepView view={view} kept={kept} onClose={() => setNaming(false)} />}
    </>
  );
}

/** Keeps a view again as it was. */
function usePutBack(): (view: SavedView) => () => void {
  const text = useText();
  const refresh = useRefresh();
  return (view) => {
    // In this room: another one has views of its own.
    const here = door.here();
    return () =>
      void here
        .call("keep_view", { view })
        .then(() => refresh("keep_view"))
        .catch(sayProblem(text));
  };
}

export function KeepView({ view, kept, onClose }: { view: View; kept: SavedView[]; onClose: () => void }) {
  const text = useText();
  const [name, setName] = useState("");
  const chosen = name.trim();
  const putBack = usePutBack();
  const keep = useCommand("keep_view");
  const there = kept.find((one) => one.name === chosen);
  /** The name of the view that somebody was asked about: another one is asked about anew. */
  const [asked, setAsked] = useState<string>();
  const isAsked = asked !== undefined && asked === chosen;
  const save = () => {
    if (there && !isAsked) return setAsked(chosen);
    const undo = there && putBack(there);
    const onSuccess = () => {
      onClose();
      if (undo) say({ tone: "done", title: text("views.replaced", { name: chosen }), undo });
    };
    keep.mutate({ view: { ...view, search: view.search.trim(), name: chosen } }, { onSuccess });
  };
  return (
    <Dialog
      title={text("views.keep.title")}
      size="small"
      isDirty={chosen !== ""}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button tone="primary" isDisabled={!chosen} isPending={keep.isPending} onPress={save} data-testid="view-keep">
            {text(isAsked ? "views.replace" : "views.keep.confirm")}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen) save();
        }}
      >
        <TextField
          label={text("views.name")}
          help={text("views.keep.more")}
          value={name}
          onChange={setName}
          autoFocus
          data-testid="view-name"
        />
      </form>
      {isAsked && there && <Exists view={there} />}
      {keep.error && <ProblemNote problem={keep.error} />}
    </Dialog>
  );
}

/** What the view shows that has the name already. */
function Exists({ view }: { view: SavedView }) {
  const text = useText();
  const { reveal } = useWindow();
  const filters = useFilterNames(view, !reveal).join(" · ");
  const shows = filters ? text("views.exists.shows", { filters }) : text("views.exists.all");
  return (
    <Notice tone="caution" role="alert" title={text("views.exists", { name: view.name })} data-testid="view-exists">
      {shows} {text("views.exists.more")}
    </Notice>
  );
}
