/** The parts of a row of calls without a price, for the table and for the cards of a narrow screen. */
import { Link } from '@tanstack/react-router';
import type { UnpricedModel } from '../../api/prices.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Count, Tokens } from '../../components/amounts.tsx';
import { Button, buttonClass, CopyButton } from '../../components/buttons.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { describeClass } from '../../messages/cost-breakdown.ts';
import type { WindowSearch } from '../../search/time-window.ts';
import { describeReason } from './price-words.ts';
import { repriceFilters, unpricedFilters } from './reprice-filters.ts';

export function ModelName({ row, window }: { readonly row: UnpricedModel; readonly window: WindowSearch }) {
  return (
    <div className="flex max-w-80 min-w-36 flex-col">
      <Link
        to="/logs"
        search={{ ...window, f: [...unpricedFilters(row)] }}
        title="These calls in Logs"
        className="font-medium underline-offset-4 [overflow-wrap:anywhere] hover:underline"
      >
        {row.model ?? '(no model)'}
      </Link>
      <span className="text-xs text-ink-faint">
        {row.provider} · {row.endpoint}
      </span>
    </div>
  );
}

export function Reason({ row: { reason, terms, missing, note } }: { readonly row: UnpricedModel }) {
  return (
    <div className="flex max-w-80 min-w-44 flex-col">
      <span>{describeReason(reason)}</span>
      {terms !== null && <span className="text-xs text-ink-faint [overflow-wrap:anywhere]">Terms: {terms}</span>}
      {missing.length > 0 && reason === 'no_rate_for_class' && (
        <span className="text-xs text-ink-faint">No rate for: {missing.map(describeClass).join('; ')}</span>
      )}
      {note !== null && <span className="text-xs text-ink-faint [overflow-wrap:anywhere]">{note}</span>}
    </div>
  );
}

export function Usage({ row }: { readonly row: UnpricedModel }) {
  const others = Object.entries(row.other_quantities);
  return (
    <span className="inline-flex flex-col">
      <Tokens of={row} />
      {others.map(([name, quantity]) => (
        <span key={name} className="text-xs text-ink-faint">
          {describeClass(name)}: <Count value={quantity} />
        </span>
      ))}
    </span>
  );
}

export function Seen({ row: { first_seen, last_seen, example_id } }: { readonly row: UnpricedModel }) {
  return (
    <>
      <Link
        to="/log/$id"
        params={{ id: example_id }}
        search={{ tab: 'cost' }}
        title="Open an example"
        className="underline-offset-4 hover:underline"
      >
        <Timestamp at={last_seen} form="relative" />
      </Link>
      <span className="block text-xs whitespace-nowrap text-ink-faint">
        first <Timestamp at={first_seen} form="relative" />
      </span>
    </>
  );
}

export interface UnpricedAction {
  readonly what: 'override' | 'mapping';
  readonly subject: UnpricedModel;
}

interface UnpricedActionsProps {
  readonly window: WindowSearch;
  readonly row: UnpricedModel;
  readonly onAction: (action: UnpricedAction) => void;
}

/** A price is for a model and its classes; where these are not known, only the call itself can be looked at. */
export function UnpricedActions({ row, window, onAction }: UnpricedActionsProps) {
  const { model, reason, suggestion, example_id } = row;
  if (model === null || reason === 'unknown_endpoint' || reason === 'result_unread')
    return (
      <Link to="/log/$id" params={{ id: example_id }} search={{ tab: 'cost' }} className={buttonClass()}>
        Open an example
      </Link>
    );
  if (reason === 'priced_by_now')
    return (
      <Allowed to="member">
        <Link
          to="/prices"
          search={{ ...window, tab: 'reprice', f: [...repriceFilters(row)] }}
          className={buttonClass()}
        >
          Reprice them
        </Link>
      </Allowed>
    );
  return (
    <span className="inline-flex items-center justify-end gap-1 max-md:flex-wrap">
      <Allowed to="member">
        <Button aria-label={`Add price for ${model}`} onClick={() => onAction({ what: 'override', subject: row })}>
          Add price
        </Button>
        {MAPPABLE.includes(reason) && (
          <Button aria-label={`Map to a model: ${model}`} onClick={() => onAction({ what: 'mapping', subject: row })}>
            Map to a model
          </Button>
        )}
      </Allowed>
      {suggestion.startsWith('tollgate ') && <CopyButton text={suggestion} what={`the command for ${model}`} />}
    </span>
  );
}

/** With these the id says nothing to the price book, so it may stand for another model. */
const MAPPABLE: readonly string[] = ['unknown_model', 'opaque_id'];
