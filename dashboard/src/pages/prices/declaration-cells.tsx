/** What the tables of declarations have in common: for which calls, when, why, and the two things to do with one. */
import type { Declaration, Mapping, Scope } from '../../api/prices.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import type { PlainColumn } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

function Alias({ name }: { readonly name: string }) {
  return <span className="[overflow-wrap:anywhere]">, alias {name}</span>;
}

export function ModelId({ match, model, provider, provider_alias }: Pick<Mapping, 'match' | 'model' | keyof Scope>) {
  return (
    <span className="inline-block max-w-72 min-w-32">
      {model === '' ? (
        <span className="text-ink-soft">every id</span>
      ) : (
        <span className="font-medium [overflow-wrap:anywhere]">
          {match === 'prefix' && <span className="font-normal text-ink-faint">begins with </span>}
          {model}
        </span>
      )}
      <span className="block text-xs text-ink-faint">
        {provider}
        {provider_alias !== null && <Alias name={provider_alias} />}
      </span>
    </span>
  );
}

export function ProviderCell({ provider, provider_alias }: Pick<Scope, 'provider' | 'provider_alias'>) {
  return (
    <span className="inline-block max-w-60">
      <span className="font-medium">{provider}</span>
      {provider_alias !== null && (
        <span className="block text-xs text-ink-faint [overflow-wrap:anywhere]">alias {provider_alias}</span>
      )}
    </span>
  );
}

export function Validity({ valid_from, valid_to }: Pick<Scope, 'valid_from' | 'valid_to'>) {
  if (valid_from === null && valid_to === null) return <span className="text-ink-soft">always</span>;
  return (
    <span className="text-xs">
      {valid_from !== null && (
        <span className="block whitespace-nowrap">
          from <Timestamp at={valid_from} />
        </span>
      )}
      {valid_to !== null && (
        <span className="block whitespace-nowrap">
          until <Timestamp at={valid_to} />
        </span>
      )}
    </span>
  );
}

function Note({ note }: Pick<Scope, 'note'>) {
  if (note === null) return <span className="text-ink-faint">—</span>;
  return <span className="line-clamp-3 max-w-56 min-w-24 text-ink-soft [overflow-wrap:anywhere]">{note}</span>;
}

export interface DeclarationAction {
  readonly what: 'edit' | 'remove';
  readonly subject: Declaration;
}

/** One name for screen readers: there are many alike on the page. */
export function nameDeclaration(subject: Declaration): string {
  switch (subject.kind) {
    case 'override':
      return `price of ${subject.model}`;
    case 'mapping':
      return `mapping of ${subject.model === '' ? 'every id' : subject.model}`;
    case 'multiplier':
      return `discount of ${subject.provider}`;
  }
}

/** When it holds, why it was declared, and what can be done with it. */
export function listCommonColumns<T extends Scope>(
  onAction: (action: DeclarationAction) => void,
  toSubject: (row: T) => Declaration,
): readonly PlainColumn<T>[] {
  const actions: PlainColumn<T> = {
    header: 'Actions',
    align: 'right',
    render: (row) => {
      const subject = toSubject(row);
      const name = nameDeclaration(subject);
      return (
        <Allowed to="member">
          <span className="inline-flex gap-1">
            <Button aria-label={`Edit ${name}`} onClick={() => onAction({ what: 'edit', subject })}>
              Edit
            </Button>
            <Button look="danger" aria-label={`Remove ${name}`} onClick={() => onAction({ what: 'remove', subject })}>
              Remove
            </Button>
          </span>
        </Allowed>
      );
    },
  };
  return [
    { header: 'Holds', render: (row) => <Validity {...row} /> },
    { header: 'Note', render: (row) => <Note note={row.note} /> },
    actions,
  ];
}
