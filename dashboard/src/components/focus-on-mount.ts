/** For `ref`: moves the focus to what has taken the place of the thing that had it. Give it `tabIndex={-1}`. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
