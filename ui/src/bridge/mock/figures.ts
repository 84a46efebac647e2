// Figures of the made-up core: the numbers of the last days, and the statement of one.

import type { RowView } from "../generated/RowView";
import type { StatementView } from "../generated/StatementView";
import type { StatisticsView } from "../generated/StatisticsView";
import type { Answers } from "./answers";
import type { Journal } from "./journal";
import { UNKNOWN_CODE } from "./messages";

export function createFigures({ rows }: Journal, now: number) {
  const answers = {
    statistics: ({ days }) => statisticsOf(rows, days, now),
    statement: ({ date }) => statementOf(rows, date),
    save_statement: () => true,
  } satisfies Partial<Answers>;
  return { answers };
}

function statisticsOf(rows: readonly RowView[], days: number, now: number): StatisticsView {
  return {
    days: Array.from({ length: days }, (_, at) => {
      const date = new Date(now - (days - 1 - at) * 86_400_000);
      const weekend = date.getDay() % 6 === 0;
      const base = weekend ? 3 : 18 + ((at * 7) % 11);
      return {
        date: date.toISOString().slice(0, 10),
        byState: {
          completed: base,
          failed: at % 3 === 0 ? 2 : 0,
          rejected: at % 4 === 1 ? 1 : 0,
          ...(at === days - 1 && { "in-progress": 4, queued: 2, held: 1 }),
        },
      };
    }),
    before: { completed: 18 * days },
    pace: { median: 42, p95: 260, reports: 18 * days },
    deadlines: { kept: 5 * days, late: days > 1 ? 2 : 0, overdue: 1, running: 3 },
    diseases: [
      { disease: "salmonellosis", subject: null, count: 5 * days },
      { disease: "chlamydia", subject: null, count: 3 * days },
      { disease: null, subject: "Mycobacterium tuberculosis complex, rifampicin susceptibility", count: days },
    ],
    causes: [
      { message: UNKNOWN_CODE, state: "failed", takenBack: null, count: 7 },
      { message: null, state: "held", takenBack: null, count: 2 },
    ],
    oldestOpen: rows.find((one) => one.group === "in-progress") ?? null,
    lastReceived: rows[0]?.created ?? null,
  };
}

function statementOf(rows: readonly RowView[], date: string): StatementView {
  return {
    date,
    made: new Date().toISOString(),
    entries: rows.slice(0, 4).map((one) => ({
      id: one.id,
      created: one.created,
      sent: one.created,
      answered: one.updated,
      state: one.state,
      disease: one.disease,
      code: one.code,
      environment: one.environment,
      endpoint: one.endpoint,
      documentIdentifier: one.documentIdentifier,
      identifier: "urn:uuid:3b9a517c-e044-4d92-8fab-08c35e71d920",
      digest: "3b9a517ce0441d926fab08c35e71d9204c88fa13673b9a517ce0441d926fab08",
      receipt: `receipt-${one.id}`,
      answerStatus: 200,
      answerDigest: "5e71d9204c88fa13673b9a517ce0441d926fab083b9a517ce0441d926fab08c3",
      corrects: one.corrects,
    })),
    isCut: false,
    chainEvent: 412,
    chainHash: "c88fa13673b9a517ce0441d926fab083b9a517ce0441d926fab08c35e71d9204",
    version: "0.1.0",
  };
}
