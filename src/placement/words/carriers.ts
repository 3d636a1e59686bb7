import { WHERE_RESOLVER } from './placement.ts'

/** The components that carry objects to other places: what holds where they write does not bind them. */
export const MAILBOX_CONTROLLER = 'mailbox-controller'
export const PLACEMENT_TRANSLATOR = 'placement-translator'

export const CARRIERS: readonly string[] = [WHERE_RESOLVER, MAILBOX_CONTROLLER, PLACEMENT_TRANSLATOR]
