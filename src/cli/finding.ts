/** One line of `doctor`. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'problem';
  readonly text: string;
}
