/** What a list of a cluster may have, in all its pages: as much as a syncer carries up at most. One that says more has no end, or no place here. */
export const LIST_LIMIT_BYTES = 256 * 1024 * 1024

/** Options of such a list. */
export const CLUSTER_LIST = { limit: 500, mostBytes: LIST_LIMIT_BYTES } as const
