/** A modal dialog: a title, what it asks, what one can do. Focus and Escape are the library's work. */
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import {
  createContext,
  type FormEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Button } from './buttons.tsx';
import { Problem } from './states.tsx';

/** A part of a dialog says whether there is something in it that must not be lost; outside of a dialog it does nothing. */
const HoldContext = createContext<(isHeld: boolean) => void>(() => {});

/** Keeps the dialog around it open while `isHeld`: neither Escape, nor ✕, nor a click beside it closes it. */
export function useHeldDialog(isHeld: boolean): void {
  const hold = useContext(HoldContext);
  // Before it is painted: whoever sees that it may be closed can close it.
  useLayoutEffect(() => {
    hold(isHeld);
    return () => hold(false);
  }, [hold, isHeld]);
}

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly size?: 'small' | 'large' | undefined;
  /** What has the focus at first; without it what a form marks as first, its first field, or the first thing that can. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Under way is what ends with something to see, such as a new key: the dialog stays until it is there. */
  readonly isBusy?: boolean;
  /** Whether a click beside the dialog leaves a form with something typed in it open, which is the rule. */
  readonly isTypedKept?: boolean;
}

export function Dialog(props: DialogProps) {
  const { title, isOpen, onClose, children, size = 'small', initialFocus, isBusy = false, isTypedKept = true } = props;
  const popup = useRef<HTMLDivElement>(null);
  /** Since it was opened. */
  const isTyped = useRef(false);
  const [isHeld, setHeld] = useState(false);
  const [isRefused, setRefused] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    isTyped.current = false;
    setRefused(false);
  }, [isOpen]);
  const findFirst = () =>
    popup.current?.querySelector<HTMLElement>('[data-first-focus]') ??
    popup.current?.querySelector<HTMLElement>('form :is(input, select, textarea):enabled') ??
    true;
  const wouldLoseText = () => isTypedKept && isTyped.current && popup.current?.querySelector('form') !== null;
  return (
    <BaseDialog.Root
      open={isOpen}
      onOpenChange={(open, details) => {
        if (open) return;
        if (isHeld) setRefused(true);
        if (isHeld || isBusy || (details.reason === 'outside-press' && wouldLoseText())) details.cancel();
        else onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-black/50" />
        <BaseDialog.Popup
          ref={popup}
          onInput={() => {
            isTyped.current = true;
          }}
          initialFocus={initialFocus ?? findFirst}
          className={`fixed top-1/2 left-1/2 z-50 max-h-[90dvh] w-[calc(100%-2rem)] -translate-x-1/2 -translate-y-1/2 overflow-auto rounded-xl border border-line bg-panel p-5 shadow-2xl ${size === 'large' ? 'max-w-2xl' : 'max-w-md'}`}
        >
          <div className="mb-3 flex items-start gap-2">
            <BaseDialog.Title className="min-w-0 flex-1 text-base font-semibold [overflow-wrap:anywhere]">
              {title}
            </BaseDialog.Title>
            <BaseDialog.Close
              aria-label="Close"
              className="inline-flex size-8 items-center justify-center rounded-md text-ink-soft hover:bg-raised"
            >
              <X size={16} aria-hidden />
            </BaseDialog.Close>
          </div>
          <HoldContext value={setHeld}>{children}</HoldContext>
          {isHeld && isRefused && (
            <p role="status" className="mt-3 text-sm text-bad">
              Store it first, and say so: it cannot be shown again.
            </p>
          )}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ActionDialogProps {
  readonly title: string;
  readonly onClose: () => void;
  /** What the dialog asks about: a mutation without arguments. */
  readonly action: { readonly mutate: () => void; readonly isPending: boolean; readonly error: Error | null };
  readonly actionLabel: string;
  readonly cancelLabel: string;
  readonly look: 'primary' | 'danger';
  readonly isReady?: boolean;
  readonly size?: 'small' | 'large';
  readonly children: ReactNode;
}

/** Says what an action does, lets its form be filled in, and then does it or not. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, onClose, action, isReady = true, children } = props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) action.mutate();
  };
  return (
    <Dialog title={title} isOpen onClose={onClose} size={props.size} isBusy={action.isPending}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {children}
        <Problem message={action.error?.message} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{props.cancelLabel}</Button>
          <Button type="submit" look={props.look} disabled={!isReady} isBusy={action.isPending}>
            {props.actionLabel}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** For `ref`: moves the focus to what has taken the place of the thing that had it. Give it `tabIndex={-1}`. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
