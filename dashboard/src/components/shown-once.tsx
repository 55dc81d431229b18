/** A new gateway key, shown this one time: to copy it, and to say that it is stored. */
import { useState } from 'react';
import { Button, CopyButton } from './buttons.tsx';

interface ShownOnceProps {
  readonly secret: string;
  readonly onDone: () => void;
}

export function ShownOnce({ secret, onDone }: ShownOnceProps) {
  const [isStored, setStored] = useState(false);
  return (
    <div className="flex flex-col gap-3">
      <p className="text-ink-soft">
        This is the key. It is shown only now: the gateway keeps a digest of it and cannot show it again.
      </p>
      <div className="flex items-center gap-2 rounded-md border border-line-strong bg-surface p-2">
        <code className="min-w-0 flex-1 font-mono text-xs break-all select-all" data-secret>
          {secret}
        </code>
        <CopyButton text={secret} what="the key" label="Copy" />
      </div>
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.target.checked)} />I have stored
        it
      </label>
      <Button look="primary" disabled={!isStored} onClick={onDone}>
        Done
      </Button>
    </div>
  );
}
