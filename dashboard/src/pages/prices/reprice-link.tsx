/** After a change of prices: history does not change by itself, and this is where it is changed. */
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../components/buttons.tsx';
import type { DeclarationForm } from './declaration-form.ts';
import { filtersOf } from './reprice-filters.ts';

interface RepriceLinkProps {
  readonly form: DeclarationForm;
  /** The address closes a form that stands in it; another is closed by its owner. */
  readonly onFollow?: () => void;
}

export function RepriceLink({ form, onFollow }: RepriceLinkProps) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-ink-soft">
      Calls before now keep the cost they have.
      <Link
        to="/prices"
        search={{ tab: 'reprice', only: 'all', f: [...filtersOf(form)] }}
        onClick={onFollow}
        className={buttonClass()}
      >
        Price earlier calls again…
      </Link>
    </p>
  );
}
