/** Warnings of the API as sentences: each begins with a capital, and what stands between backticks is code. */

function Sentence({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('`').map((part, index) =>
        index % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
          <code key={index} className="rounded bg-panel px-1 font-mono text-xs">
            {part}
          </code>
        ) : index === 0 ? (
          part.charAt(0).toUpperCase() + part.slice(1)
        ) : (
          part
        ),
      )}
    </>
  );
}

export function WarningList({ warnings }: { readonly warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul
      aria-label="Warnings"
      className="flex flex-col gap-1 rounded-lg border border-warn/60 bg-warn-soft px-3 py-1.5 text-warn"
    >
      {warnings.map((warning) => (
        <li key={warning} className="[overflow-wrap:anywhere]">
          <Sentence text={warning} />
        </li>
      ))}
    </ul>
  );
}
