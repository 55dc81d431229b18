/** The side bar: where one can go. On a narrow screen it is a row above the page. */
import { Link } from '@tanstack/react-router';
import { navigationOf } from './navigation.ts';
import { useSession } from './session-context.tsx';

export function SideBar() {
  const navigation = navigationOf(useSession());
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 flex-col gap-4 border-line bg-panel p-3 max-md:flex-row max-md:gap-1 max-md:overflow-x-auto max-md:border-b max-md:p-2 md:w-48 md:border-r"
    >
      <Link to="/" className="flex items-center gap-2 px-2 py-1 font-semibold max-md:hidden">
        <img src="/favicon.svg" alt="" width={20} height={20} />
        Tollgate
      </Link>
      {navigation.map(({ label, items }) => (
        <div key={label ?? 'start'} className="max-md:contents">
          {label !== null && <p className="px-2 pb-1 text-xs text-ink-faint max-md:hidden">{label}</p>}
          <ul className="flex flex-col gap-0.5 max-md:flex-row">
            {items.map(({ to, label: name, icon: Icon }) => (
              <li key={to}>
                <Link
                  to={to}
                  className="flex items-center gap-2 rounded-md px-2 py-1.5 whitespace-nowrap text-ink-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
                >
                  <Icon size={16} aria-hidden />
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
