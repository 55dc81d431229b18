/** A new secret, shown this one time: to copy it, and to say that it is stored, before which its dialog stays open. */
import { useState } from 'react';
import { Button, CopyButton } from './buttons.tsx';
import { useHeldDialog } from './dialog.tsx';
import { Checkbox } from './form-field.tsx';

interface ShownOnceProps {
  readonly secret: string;
  readonly about?: string;
  readonly what?: string;
  readonly onDone: () => void;
}

const KEY_ABOUT = 'This is the key. It is shown only now: the gateway stores a digest of it and cannot show it again.';

export function ShownOnce({ secret, about = KEY_ABOUT, what = 'the key', onDone }: ShownOnceProps) {
  const [isStored, setStored] = useState(false);
  useHeldDialog(!isStored);
  return (
    <div className="flex flex-col gap-3">
      <p className="text-ink-soft">{about}</p>
      <div className="flex items-center gap-2 rounded-md border border-line-strong bg-surface p-2">
        <code className="min-w-0 flex-1 font-mono text-xs break-all select-all" data-secret>
          {secret}
        </code>
        <CopyButton text={secret} what={what} label="Copy" />
      </div>
      <Checkbox label="I have stored it" isOn={isStored} onChange={setStored} />
      <Button look="primary" disabled={!isStored} onClick={onDone}>
        Done
      </Button>
    </div>
  );
}
