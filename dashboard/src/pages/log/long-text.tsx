/** Text from strangers, as it is: line breaks kept, direction by its own letters, its beginning when it is very long. */
import { useState } from 'react';
import { cutText } from '../../messages/body-text.ts';
import { useSoughtIn } from './sought-text.tsx';

const FIRST_CHARACTERS = 8_000;
/** What is sought is shown with what follows it. */
const AFTER_SOUGHT = 2_000;
/** So many at a time: a page with megabytes of wrapped text is slow to lay out. */
const STEP_CHARACTERS = 200_000;

export function LongText({ text, className = '' }: { readonly text: string; readonly className?: string }) {
  const soughtAt = useSoughtIn(text);
  const [most, setMost] = useState(
    soughtAt === -1 ? FIRST_CHARACTERS : Math.max(FIRST_CHARACTERS, soughtAt + AFTER_SOUGHT),
  );
  const { text: shown, hiddenCharacters } = cutText(text, most);
  return (
    <div className={className}>
      <div dir="auto" className="[overflow-wrap:anywhere] whitespace-pre-wrap">
        {shown}
      </div>
      {hiddenCharacters > 0 && (
        <button type="button" className="mt-1 text-accent underline" onClick={() => setMost(most + STEP_CHARACTERS)}>
          Show more ({hiddenCharacters.toLocaleString('en-US')} characters are not shown)
        </button>
      )}
    </div>
  );
}
