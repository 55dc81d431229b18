/** What a call is estimated at whose usage was not reported: apart from its cost, and marked as no part of one. */
import type { LogDetail } from '../../api/logs.ts';
import { Count, Money } from '../../components/amounts.tsx';
import { KeyValueList } from '../../components/key-value-list.tsx';
import { readEstimate } from '../../messages/read-estimate.ts';

export function EstimateBlock({ log }: { readonly log: LogDetail }) {
  const estimate = readEstimate(log.estimated_tokens);
  if (estimate === null) return null;
  const { input, output, method, notes } = estimate;
  return (
    <section aria-label="Estimate" className="rounded-md border border-line border-dashed p-3">
      <h3 className="font-medium">Estimate</h3>
      {method !== null && (
        <>
          <p className="mt-1 text-ink-soft">
            The usage was not reported in full, so the text was counted. This is not part of any total.
          </p>
          <div className="mt-2">
            <KeyValueList
              items={[
                { name: 'Cost, about', value: <Money value={log.estimated_cost} /> },
                ...(input === null ? [] : [{ name: 'Input', value: <Count value={input} unit="tokens, estimated" /> }]),
                ...(output === null
                  ? []
                  : [{ name: 'Output', value: <Count value={output} unit="tokens, estimated" /> }]),
                { name: 'Counted with', value: method },
              ]}
            />
          </div>
        </>
      )}
      {notes.map((note) => (
        <p key={note} className="mt-1 text-ink-soft">
          {note}
        </p>
      ))}
    </section>
  );
}
