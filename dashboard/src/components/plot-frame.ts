/** What a drawing leaves free around its bars, in pixels. Apart from the drawing, whose chunk comes later than the overlay on it. */
export const PLOT = { left: 72, right: 12, top: 12, bottom: 28 } as const;
