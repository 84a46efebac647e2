// Who has changed what of the settings, the newest change first.

import { useAuditLog } from "../bridge/queries";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { Dialog } from "../kit/dialog";
import { ReadProblem } from "../kit/notes";
import css from "./audit-log.module.css";
import { SaveTable } from "./save-table";
import { csv } from "./table-text";

export function AuditLog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const words = useCodeText();
  const format = useFormat();
  const log = useAuditLog();
  const entries = log.data ?? [];
  const heads = [text("audit.when"), text("audit.who"), text("audit.what")];
  const table = () => csv([heads, ...entries.map((one) => [one.at, one.by, words("change", one.change, one.params)])]);
  return (
    <Dialog
      title={text("audit.title")}
      onClose={onClose}
      footer={entries.length > 0 && <SaveTable table={table} data-testid="audit-save" />}
    >
      <p className={css.more}>{text("audit.reports")}</p>
      <ReadProblem of={log} />
      {log.data && entries.length === 0 && <p>{text("audit.none")}</p>}
      {entries.length > 0 && (
        <table className={`${css.table} selectable`}>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.map((one, at) => (
              <tr key={at} data-testid="audit-entry" data-change={one.change}>
                <td>
                  <time dateTime={one.at}>{format.exact(one.at)}</time>
                </td>
                <td>{one.by}</td>
                <td>{words("change", one.change, one.params)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Dialog>
  );
}
