/** One line of what `doctor` found: good, worth knowing, or a problem. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'problem';
  readonly text: string;
}
