/** What a call was asked and what it answered, in one line. */
export interface Snippet {
  readonly prompt: string;
  readonly answer: string;
}

interface SnippetTextProps {
  /** Null: the text of the call is not kept. */
  readonly snippet: Snippet | null;
}

export function SnippetText({ snippet }: SnippetTextProps) {
  if (snippet === null) return <span className="text-ink-faint">–</span>;
  const { prompt, answer } = snippet;
  return (
    <span className="flex min-w-0 items-baseline gap-1.5" title={`${prompt}\n→ ${answer}`}>
      {prompt !== '' && <bdi className="max-w-[50%] min-w-0 truncate">{prompt}</bdi>}
      <span className="text-ink-faint" aria-hidden>
        →
      </span>
      <bdi className="min-w-0 flex-1 truncate text-ink-soft">{answer === '' ? '–' : answer}</bdi>
    </span>
  );
}
