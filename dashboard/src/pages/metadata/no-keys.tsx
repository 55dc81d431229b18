/** No metadata yet: how a client sends some. */
import { Button, CopyButton } from '../../components/buttons.tsx';
import { EmptyState } from '../../components/states.tsx';

const EXAMPLE = `curl ${'$'}BASE_URL/v1/chat/completions \\
  -H "X-Gateway-Key: ${'$'}GATEWAY_KEY" \\
  -H "X-Gateway-Feature: checkout" \\
  -H "X-Gateway-User-Id: 4711" \\
  -H "X-Gateway-Environment: production" \\
  …`;

interface NoKeysProps {
  /** False: there was no call at all in the window. */
  readonly hasCalls: boolean;
  /** Null when the window is as wide already. */
  readonly onWiden: (() => void) | null;
}

export function NoKeys({ hasCalls, onWiden }: NoKeysProps) {
  return (
    <EmptyState
      title={hasCalls ? 'No calls in this time range carry metadata' : 'No calls in this time range'}
      actions={
        <>
          {onWiden !== null && <Button onClick={onWiden}>Show the last 30 days</Button>}
          <CopyButton text={EXAMPLE} what="the example" label="Copy the example" />
        </>
      }
    >
      <p>
        Every <code className="font-mono">X-Gateway-…</code> header that has no meaning of its own is stored with the
        call: without the prefix as the key, and its value as it was sent. Costs and runs can then be grouped by it.
      </p>
      <pre className="mt-4 overflow-x-auto rounded-lg border border-line bg-raised p-3 text-left font-mono text-xs text-ink">
        {EXAMPLE}
      </pre>
    </EmptyState>
  );
}
