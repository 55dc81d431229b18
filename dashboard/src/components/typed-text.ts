/**
 * A text that is typed on this page and stands in its address. The address lags behind: what the field itself wrote there
 * arrives later, and must not replace what has been typed since. Pure; `use-typed-text.ts` is its hook.
 */

export interface TypedText {
  /** As it stands in the field. */
  readonly text: string;
  /** As it stood in the address last. */
  readonly q: string;
  /** What the field wrote to the address and has not arrived there yet, the oldest first. */
  readonly sent: readonly string[];
}

export type TypedTextChange =
  | { readonly type: 'typed'; readonly text: string }
  | { readonly type: 'sent'; readonly text: string }
  | { readonly type: 'arrived'; readonly q: string };

export function beginTypedText(q: string): TypedText {
  return { text: q, q, sent: [] };
}

export function changeTypedText(state: TypedText, change: TypedTextChange): TypedText {
  switch (change.type) {
    case 'typed':
      return { ...state, text: change.text };
    case 'sent':
      return { ...state, sent: [...state.sent, change.text] };
    case 'arrived': {
      const { q } = change;
      if (q === state.q) return state;
      // An address that was replaced on its way never arrives: what is older than this one is no more awaited.
      const place = state.sent.indexOf(q);
      return place === -1 ? beginTypedText(q) : { ...state, q, sent: state.sent.slice(place + 1) };
    }
  }
}

/** Null when the address has it, or will. */
export function unsentText({ text, q, sent }: TypedText): string | null {
  return text === (sent.at(-1) ?? q) ? null : text;
}
