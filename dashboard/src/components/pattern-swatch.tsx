/** A small field with a series' colour and pattern, as it stands in the drawing. */
import type { Pattern, SeriesLook } from './series-look.ts';

/** The lines are the page's own colour, so that they show on every series colour in both themes. */
const BACKGROUNDS: Readonly<Record<Pattern, string>> = {
  solid: 'none',
  diagonal: 'repeating-linear-gradient(135deg, var(--panel) 0 1.2px, transparent 1.2px 5px)',
  dots: 'radial-gradient(circle at 50% 50%, var(--panel) 1.2px, transparent 1.6px) 0 0 / 5px 5px',
  horizontal: 'repeating-linear-gradient(0deg, var(--panel) 0 1.2px, transparent 1.2px 5px)',
  'back-diagonal': 'repeating-linear-gradient(45deg, var(--panel) 0 1.2px, transparent 1.2px 5px)',
  vertical: 'repeating-linear-gradient(90deg, var(--panel) 0 1.2px, transparent 1.2px 5px)',
};

export function PatternSwatch({ look }: { readonly look: SeriesLook }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-3.5 shrink-0 rounded-sm"
      style={{ background: BACKGROUNDS[look.pattern], backgroundColor: `var(${look.colour})` }}
    />
  );
}
