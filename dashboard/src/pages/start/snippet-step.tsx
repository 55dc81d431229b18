/** The second step: the lines that point a client at the gateway, for the client that one uses. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CopyButton } from '../../components/buttons.tsx';
import { listSnippets } from './client-snippets.ts';

interface SnippetStepProps {
  readonly baseUrl: string;
  readonly keyPlaceholder: string;
}

const REMEMBERED = 'tollgate.client';

function readRemembered(): string | null {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}

function remember(id: string): void {
  try {
    localStorage.setItem(REMEMBERED, id);
  } catch {
    // Only a convenience.
  }
}

export function SnippetStep({ baseUrl, keyPlaceholder }: SnippetStepProps) {
  const search = useSearch({ from: '/app/start' });
  const navigate = useNavigate({ from: '/start' });
  const snippets = listSnippets({
    baseUrl,
    keyPlaceholder,
    withMetadata: search.metadata === '1',
    withRun: search.run === '1',
  });
  const wanted = search.client ?? readRemembered();
  const snippet = snippets.find(({ id }) => id === wanted) ?? snippets[0];
  if (snippet === undefined) return null;
  const change = (part: Partial<typeof search>) =>
    navigate({ search: (before) => ({ ...before, ...part }), replace: true });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <label className="flex items-center gap-2 text-ink-soft">
          Client
          <select
            value={snippet.id}
            onChange={(event) => {
              remember(event.target.value);
              void change({ client: event.target.value });
            }}
            className="h-8 rounded-md border border-line-strong bg-surface px-2 text-ink"
          >
            {snippets.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={search.metadata === '1'}
            onChange={(event) => void change({ metadata: event.target.checked ? '1' : undefined })}
          />
          with metadata
        </label>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={search.run === '1'}
            onChange={(event) => void change({ run: event.target.checked ? '1' : undefined })}
          />
          as a run
        </label>
      </div>
      <figure className="overflow-hidden rounded-md border border-line">
        <figcaption className="flex items-center gap-2 border-b border-line bg-raised px-3 py-1 text-xs text-ink-soft">
          <span className="min-w-0 flex-1 truncate">{snippet.filename}</span>
          <CopyButton text={snippet.code} what="the snippet" label="Copy" />
        </figcaption>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <pre tabIndex={0} className="max-h-96 overflow-auto bg-surface p-3 font-mono text-xs leading-relaxed">
          {snippet.code}
        </pre>
      </figure>
      {snippet.pitfall !== null && <p className="text-xs text-ink-soft">{snippet.pitfall}</p>}
      <p className="text-xs text-ink-soft">Not here? More than 60 clients, by language: docs/clients.md.</p>
    </div>
  );
}
