/**
 * Single letters for every page: `g` then a page's letter, and the letters that elements claim with `data-hotkey`.
 * Silent while someone types, and switched off by the preference.
 */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { usePreferences } from '../preferences.tsx';
import { navigationOf } from './navigation.ts';
import { isSecretShown } from './secret-shown.ts';
import { useSession } from './session-context.tsx';

const SEQUENCE_MS = 1_200;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** A dialog is about one thing; behind it nothing may move. */
function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"]') !== null;
}

/** Keys that belong to a list: pressed outside of it they lead into it. */
const LIST_KEYS: readonly string[] = ['j', 'k'];

function focusList(): void {
  document.querySelector<HTMLElement>('[role="row"][tabindex="0"]')?.focus();
}

function press(key: string): boolean {
  const element = document.querySelector<HTMLElement>(`[data-hotkey="${CSS.escape(key)}"]`);
  if (element === null) return false;
  if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) element.focus();
  else element.click();
  return true;
}

export function useAppKeys(onGoTo: () => void, onHelp: () => void): void {
  const { areKeysOn } = usePreferences();
  const navigate = useNavigate();
  const session = useSession();
  useEffect(() => {
    let goPressedAtMs = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        if (!isSecretShown()) onGoTo();
        return;
      }
      if (!areKeysOn || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target) || isDialogOpen()) return;
      const isSecond = event.timeStamp - goPressedAtMs < SEQUENCE_MS;
      goPressedAtMs = Number.NEGATIVE_INFINITY;
      if (isSecond) {
        const page = navigationOf(session)
          .flatMap(({ items }) => items)
          .find(({ key }) => key === event.key);
        if (page !== undefined) void navigate({ to: page.to });
        return;
      }
      if (event.key === 'g') goPressedAtMs = event.timeStamp;
      else if (event.key === '?') onHelp();
      else if (LIST_KEYS.includes(event.key)) focusList();
      else if (!press(event.key)) return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [areKeysOn, navigate, onGoTo, onHelp, session]);
}
