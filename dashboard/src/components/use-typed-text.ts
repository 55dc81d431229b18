/** The text of a field that stands in the address: it goes there after a pause in typing, or at once by `send`. */
import { useEffect, useEffectEvent, useReducer } from 'react';
import { beginTypedText, changeTypedText, unsentText } from './typed-text.ts';

interface TypedTextField {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly send: () => void;
}

export function useTypedText(q: string, onText: (text: string) => void, pauseMs: number): TypedTextField {
  const [state, change] = useReducer(changeTypedText, q, beginTypedText);
  const unsent = unsentText(state);
  const send = () => {
    if (unsent === null) return;
    change({ type: 'sent', text: unsent });
    onText(unsent);
  };
  const onPause = useEffectEvent(send);
  useEffect(() => change({ type: 'arrived', q }), [q]);
  useEffect(() => {
    if (unsent === null) return;
    const timer = setTimeout(() => onPause(), pauseMs);
    return () => clearTimeout(timer);
  }, [unsent, pauseMs]);
  return { text: state.text, setText: (text) => change({ type: 'typed', text }), send };
}
