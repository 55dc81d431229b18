/** The pages of the side bar in their order, and the keys that lead to them. */
import {
  Activity,
  ChartColumn,
  Coins,
  Compass,
  FileClock,
  Gauge,
  KeyRound,
  ListTree,
  LockKeyhole,
  type LucideIcon,
  PiggyBank,
  ScrollText,
  Tags,
  Users,
} from 'lucide-react';

import { allows, type Least, type Session } from '../api/session.ts';

export interface NavigationItem {
  readonly to:
    | '/start'
    | '/runs'
    | '/logs'
    | '/costs'
    | '/metadata'
    | '/budgets'
    | '/brakes'
    | '/prices'
    | '/keys'
    | '/people'
    | '/audit'
    | '/credentials'
    | '/system';
  readonly label: string;
  readonly icon: LucideIcon;
  /** After `g`. */
  readonly key: string;
  /** Who may open it; without it everybody who is signed in. */
  readonly least?: Least;
}

export interface NavigationGroup {
  readonly label: string | null;
  readonly items: readonly NavigationItem[];
}

const NAVIGATION: readonly NavigationGroup[] = [
  { label: null, items: [{ to: '/start', label: 'Get started', icon: Compass, key: 's' }] },
  {
    label: 'Observe',
    items: [
      { to: '/runs', label: 'Runs', icon: ListTree, key: 'r' },
      { to: '/logs', label: 'Logs', icon: ScrollText, key: 'l' },
    ],
  },
  {
    label: 'Costs',
    items: [
      { to: '/costs', label: 'Costs', icon: ChartColumn, key: 'c' },
      { to: '/metadata', label: 'Metadata keys', icon: Tags, key: 'm' },
      { to: '/budgets', label: 'Budgets', icon: PiggyBank, key: 'b' },
      { to: '/brakes', label: 'Brakes & alerts', icon: Gauge, key: 'x' },
      { to: '/prices', label: 'Prices', icon: Coins, key: 'p' },
    ],
  },
  {
    label: 'Settings',
    items: [
      { to: '/keys', label: 'API keys', icon: KeyRound, key: 'k' },
      { to: '/people', label: 'People', icon: Users, key: 'e', least: 'owner' },
      { to: '/credentials', label: 'Credentials', icon: LockKeyhole, key: 'i', least: 'owner' },
      { to: '/audit', label: 'Audit', icon: FileClock, key: 'a', least: 'owner' },
      { to: '/system', label: 'System', icon: Activity, key: 'y', least: 'operator' },
    ],
  },
];

/** What this session may open. */
export function navigationOf(session: Session): readonly NavigationGroup[] {
  return NAVIGATION.map(({ label, items }) => ({
    label,
    items: items.filter(({ least }) => least === undefined || allows(session, least)),
  })).filter(({ items }) => items.length > 0);
}

/** The page at an address, where it is not for everybody. */
export function findRestrictedPage(path: string): { readonly label: string; readonly least: Least } | null {
  const { label, least } = NAVIGATION.flatMap(({ items }) => items).find(({ to }) => to === path) ?? {};
  return label === undefined || least === undefined ? null : { label, least };
}
