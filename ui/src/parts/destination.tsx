// Where a report goes or went: the environment, and which authority there. It is said of every report that may be taken
// for one of another place: in practice and in the test system always, in production where there is more than one.

import type { RowView } from "../bridge/generated/RowView";
import { useEndpoints } from "../bridge/queries";
import { endpointName, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import css from "./destination.module.css";

type Going = Pick<RowView, "environment" | "endpoint">;

/** Says it of a row, or nothing; `laboratory`: names of the laboratory's own authorities. */
export function destinationOf(text: Text, row: Going, laboratory: string[]): string | null {
  const { environment, endpoint } = row;
  // An authority that was removed is another one as well.
  if (environment === "production" && laboratory.every((name) => name === endpoint)) return null;
  const word = text.code(`environment.${environment}`) ?? environment;
  const name = endpointName(text, endpoint);
  return name === "" || name === word ? word : `${word} · ${name}`;
}

/** The same for any row, as long as a list is shown. */
export function useDestinations(): (row: Going) => string | null {
  const text = useText();
  const endpoints = useEndpoints().data ?? [];
  const laboratory = endpoints.filter(({ environment }) => environment !== "practice").map(({ name }) => name);
  return (row) => destinationOf(text, row, laboratory);
}

export function Destination({ of }: { of: string | null }) {
  if (of === null) return null;
  return (
    <span className={css.destination} title={of} data-testid="destination">
      {of}
    </span>
  );
}
