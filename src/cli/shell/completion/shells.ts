/** The sub-command by which shells ask what may come next, as cobra calls it: kubectl and others know it by that name. */
export const COMPLETE = '__complete'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]
