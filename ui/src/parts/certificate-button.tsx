// Where the file of a certificate belongs: the laboratory's own is imported, that of a CA is given to an authority.

import { FileKey2, Landmark } from "lucide-react";

import { useCertificateLook } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { useWindow } from "../place";

/** The refusal of a file in which every certificate is that of a CA, without a key. */
export const IS_CA = "certificate-ca-without-key";

/** Opens the authority whose CA it is, with this file. */
export function UseAsCa(props: { path: string; autoFocus?: boolean; onPress?: (() => void) | undefined }) {
  const { path, autoFocus = false, onPress } = props;
  const text = useText();
  const { go } = useWindow();
  return (
    <Button
      icon={Landmark}
      autoFocus={autoFocus}
      onPress={() => {
        onPress?.();
        go({ screen: "settings", ca: path });
      }}
      data-testid="use-as-ca"
    >
      {text("send.use-as-ca")}
    </Button>
  );
}

/** `onLeave`: before another screen takes the place of this one. */
export function CertificateButton(props: { path: string; onImport: () => void; onLeave?: () => void }) {
  const { path, onImport, onLeave } = props;
  const text = useText();
  const look = useCertificateLook([path]);
  if (look.isPending) return null;
  if (look.error?.code === IS_CA) return <UseAsCa path={path} onPress={onLeave} />;
  return (
    <Button icon={FileKey2} onPress={onImport} data-testid="import-this-certificate">
      {text("send.import-certificate")}
    </Button>
  );
}
