// Changes of the counts, said politely and together: at most once in ten seconds.

import { useEffect, useRef, useState } from "react";

import type { CountsView } from "../bridge/generated/CountsView";
import { useText } from "../i18n/text";

const PAUSE_MS = 10_000;

export function Announcer({ counts }: { counts: CountsView }) {
  const text = useText();
  const { needsAttention, inProgress, completed } = counts;
  const sentence = text("announce.counts", { attention: needsAttention, progress: inProgress, completed });
  const [said, setSaid] = useState("");
  const latest = useRef(sentence);
  useEffect(() => {
    latest.current = sentence;
  }, [sentence]);
  useEffect(() => {
    let known = latest.current;
    const timer = setInterval(() => {
      if (latest.current !== known) setSaid(latest.current);
      known = latest.current;
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="visually-hidden" aria-live="polite">
      {said}
    </p>
  );
}
