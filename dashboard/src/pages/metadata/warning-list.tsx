/** What should be thought of before a key is promoted, in words. */
import { TriangleAlert } from 'lucide-react';
import type { MetadataKeyWarning } from '../../api/metadata-keys.ts';

const WORDS: Readonly<Record<MetadataKeyWarning, string>> = {
  unique_per_call: 'Nearly every call has a value of its own: grouping says little, and a promotion takes much space.',
  looks_personal: 'Values look like personal data, e.g. e-mail addresses.',
  two_spellings: 'Came in more than one spelling; they count as one key.',
};

export function WarningList({ warnings }: { readonly warnings: readonly MetadataKeyWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="flex flex-col gap-0.5 text-xs whitespace-normal text-warn">
      {warnings.map((warning) => (
        <li key={warning} className="flex items-start gap-1">
          <TriangleAlert size={13} aria-hidden className="mt-0.5 shrink-0" />
          {/* A newer server may warn of something else. */}
          {WORDS[warning] ?? warning}
        </li>
      ))}
    </ul>
  );
}
