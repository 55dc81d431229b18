/** The tools that a request offered, and the form it asked the answer to have; folded. */
import { Badge } from '../../components/badges.tsx';
import type { Conversation } from '../../messages/conversation.ts';
import { JsonTree } from './json-tree.tsx';
import { LongText } from './long-text.tsx';

const MAX_SHOWN = 200;

export function OfferedTools({ conversation }: { readonly conversation: Conversation }) {
  const { tools, responseFormat } = conversation;
  return (
    <>
      {tools.length > 0 && (
        <details className="border-b border-line px-4 py-2">
          <summary className="text-ink-soft">
            {tools.length} {tools.length === 1 ? 'tool' : 'tools'} offered
          </summary>
          <ul className="mt-2 flex flex-col gap-3">
            {tools.slice(0, MAX_SHOWN).map((tool, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the tools of a stored call never move
              <li key={index} className="rounded-md border border-line p-2.5">
                <p className="font-medium [overflow-wrap:anywhere]">
                  {tool.name.slice(0, 300)} {tool.cacheMark !== null && <Badge tone="accent">cache mark</Badge>}
                </p>
                {tool.description !== null && <LongText text={tool.description} className="text-ink-soft" />}
                {tool.schema !== null && (
                  <JsonTree label={`Schema of ${tool.name}`} value={tool.schema} openLevels={1} />
                )}
              </li>
            ))}
          </ul>
          {tools.length > MAX_SHOWN && (
            <p className="mt-2 text-ink-faint">{tools.length - MAX_SHOWN} more are in the tab Request.</p>
          )}
        </details>
      )}
      {responseFormat !== null && (
        <details className="border-b border-line px-4 py-2">
          <summary className="text-ink-soft">Form of the answer</summary>
          <div className="mt-2">
            <JsonTree label="Form of the answer" value={responseFormat} />
          </div>
        </details>
      )}
    </>
  );
}
