// The watched folder: chosen with a question about what lies in it already, and what was left there stays in sight.

import { FolderOpen, Search, X } from "lucide-react";
import { useState } from "react";

import { door } from "#door";

import type { LyingView } from "../bridge/generated/LyingView";
import { useCommand, useLeftLying, useStatus } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import { useIntake } from "../intake";
import { HOME, useWindow } from "../place";
import css from "../screens/settings.module.css";
import { Button } from "../kit/controls";
import { Confirm } from "../kit/dialog";
import { Notice, ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { say, sayProblem } from "../kit/toasts";

/** A folder that was chosen, with what lies in it. */
interface Chosen {
  path: string;
  there: LyingView;
}

export function WatchedFolder() {
  const text = useText();
  const folder = useStatus().data?.watchedFolder ?? null;
  const [chosen, setChosen] = useState<Chosen>();
  const watch = useCommand("set_watched_folder");
  const watchWhatComes = useCommand("watch_what_comes");
  const onError = sayProblem(text);
  const close = () => setChosen(undefined);
  const choose = async () => {
    const path = await door.call("choose_folder", { purpose: "watched" });
    if (path === null) return;
    const there = await door.call("look_at_folder", { path });
    // Nobody is asked about nothing; a share that is away looks like an empty folder, so it is said.
    if (there.count > 0) setChosen({ path, there });
    else {
      const onSuccess = () => say({ tone: "attention", title: text("watch.empty"), more: text("watch.empty.more") });
      watch.mutate({ path }, { onError, onSuccess });
    }
  };
  return (
    <>
      <div className={css.setting}>
        <span className={css.words}>
          <span>{text("settings.watch")}</span>
          <span>{folder ?? text("settings.watch.none")}</span>
        </span>
        <div className={screen.tools}>
          <Button icon={FolderOpen} onPress={() => void choose().catch(onError)} data-testid="choose-watched">
            {text("settings.watch.choose")}
          </Button>
          {folder !== null && (
            <Button
              tone="quiet"
              icon={X}
              label={text("settings.watch.stop")}
              onPress={() => watch.mutate({ path: null }, { onError })}
            />
          )}
        </div>
      </div>
      <LeftLying />
      {chosen && (
        <Question
          chosen={chosen}
          isPending={watch.isPending || watchWhatComes.isPending}
          onSend={() => watch.mutate({ path: chosen.path }, { onError, onSettled: close })}
          onLeave={() => watchWhatComes.mutate({ path: chosen.path }, { onError, onSettled: close })}
          onClose={close}
        />
      )}
    </>
  );
}

/** Nothing goes to the authority that nobody has asked for: what lies there may be years old. */
function Question(props: {
  chosen: Chosen;
  isPending: boolean;
  onSend: () => void;
  onLeave: () => void;
  onClose: () => void;
}) {
  const { chosen, isPending, onSend, onLeave, onClose } = props;
  const text = useText();
  const format = useFormat();
  const { count, newest } = chosen.there;
  return (
    <Confirm
      title={text("watch.ask", { n: count })}
      confirm={text("watch.ask.leave")}
      size="medium"
      focusesConfirm
      isPending={isPending}
      other={{ name: text("watch.ask.send", { n: count }), onPress: onSend, "data-testid": "watch-send-these" }}
      onConfirm={onLeave}
      onClose={onClose}
      data-testid="watch-what-comes"
    >
      <p className="selectable">{chosen.path}</p>
      {newest !== null && <p>{text("watch.ask.newest", { n: count, when: format.moment(newest) })}</p>}
      <p>{text("watch.ask.more")}</p>
    </Confirm>
  );
}

/** What was left lying when the folder was chosen: it is not sent, and not forgotten. */
export function LeftLying() {
  const text = useText();
  const format = useFormat();
  const intake = useIntake();
  const { go } = useWindow();
  const read = useLeftLying();
  const left = read.data;
  if (!left) return <ReadProblem of={read} />;
  if (left.count === 0) return null;
  const look = () => {
    intake.choose(left.paths);
    go(HOME.send);
  };
  return (
    <div data-testid="left-lying">
      <Notice
        tone="quiet"
        title={text("watch.left", { n: left.count })}
        actions={
          <Button icon={Search} onPress={look} data-testid="look-at-left">
            {text("watch.left.look", { n: left.count })}
          </Button>
        }
      >
        {left.newest !== null && text("watch.ask.newest", { n: left.count, when: format.moment(left.newest) })}
      </Notice>
    </div>
  );
}
