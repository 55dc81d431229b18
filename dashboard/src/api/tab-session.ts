/**
 * Who is signed in and which account this tab shows. The cookies of both belong to the whole browser, so that another tab
 * can change them beneath this one: every request names the account that is held here, and the tabs tell each other, since
 * a stream or a download cannot name one.
 */
import type { Session } from './session.ts';

type SignedIn = Pick<Session, 'kind' | 'name' | 'person_id' | 'account'>;

interface HeldSession {
  readonly who: string;
  readonly accountId: number;
}

const CHANNEL = 'tollgate.session';
const NOBODY = 'nobody';

/** State of the document and not of a component: requests are made before there is any, and outside of them. */
let held: HeldSession | null = null;
let tabs: BroadcastChannel | null = null;
let onOther: () => void = () => {};

function describe({ who, accountId }: HeldSession): string {
  return `${who} in ${accountId}`;
}

/** Once, when the page starts. `onOtherSession`: what this tab shows is not what the browser's cookies stand for. */
export function followTabs(onOtherSession: () => void): void {
  onOther = onOtherSession;
  // Where there is none, the next look at the session notices another person, and requests keep to their account.
  if (typeof BroadcastChannel === 'undefined') return;
  tabs = new BroadcastChannel(CHANNEL);
  tabs.onmessage = ({ data }) => {
    if (held !== null && data !== describe(held)) onOther();
  };
}

export function readHeldAccount(): number | null {
  return held === null ? null : held.accountId;
}

/** The first session that the tab sees decides its account. Another person in its place is for `onOtherSession`. */
export function holdSession({ kind, name, person_id, account }: SignedIn): void {
  const who = `${kind} ${person_id ?? name}`;
  if (held === null) {
    held = { who, accountId: account.id };
    tabs?.postMessage(describe(held));
  } else if (held.who !== who) onOther();
}

/** Before another sign-in in this tab. */
export function forgetHeld(): void {
  held = null;
}

export function tellSignedOut(): void {
  forgetHeld();
  tabs?.postMessage(NOBODY);
}

/** Before the page is loaded anew with that account. */
export function tellAccount(accountId: number): void {
  if (held !== null) tabs?.postMessage(describe({ ...held, accountId }));
}
