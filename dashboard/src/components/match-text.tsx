/** Where a search found its text in a call, in one line: the part of the call, and the text with what is around it. */
export interface Match {
  readonly in: string;
  readonly text: string;
  readonly start: number;
  readonly length: number;
}

/** More in front of it would push it out of a narrow cell. */
const CHARACTERS_BEFORE = 24;

function cutBefore(text: string): string {
  const characters = [...text];
  return characters.length <= CHARACTERS_BEFORE ? text : `…${characters.slice(-CHARACTERS_BEFORE).join('')}`;
}

export function MatchText({ match }: { readonly match: Match }) {
  const { text, start, length } = match;
  return (
    <span className="flex min-w-0 items-baseline gap-1.5" title={`${match.in}: ${text}`}>
      <span className="max-w-[40%] shrink-0 truncate text-xs text-ink-faint">{match.in}</span>
      <bdi className="min-w-0 flex-1 truncate">
        {cutBefore(text.slice(0, start))}
        <mark className="rounded-sm bg-warn-soft text-ink">{text.slice(start, start + length)}</mark>
        {text.slice(start + length)}
      </bdi>
    </span>
  );
}
