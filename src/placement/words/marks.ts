/**
 * The marks on objects of workload spaces, on their copies and on the clusters' objects: owner, reach and visibility in a preview. One
 * table; a mark that it lacks travels and is shown, as all annotations of authors are. Pure.
 */
import { isServersKey, LAST_APPLIED_ANNOTATION } from '../../apimachinery/resources.ts'
import {
  ADOPT,
  ASSOCIATED_ANNOTATION,
  ASSOCIATED_WITH,
  CONFLICT_ANNOTATION,
  CREATE_ONLY,
  CUSTOMIZATION_ERROR_ANNOTATION,
  CUSTOMIZER_ANNOTATION,
  DIFFERENCES_ANNOTATION,
  DOWNSYNCED,
  EDGE_GROUP,
  EXECUTING_COUNT_ANNOTATION,
  EXPAND_ANNOTATION,
  HAND_OVER_ANNOTATION,
  IMPLIED_ANNOTATION,
  KEEP_ON_DELETE,
  LEFT_FIELDS_ANNOTATION,
  LIVE_FIELDS_ANNOTATION,
  OVERWRITE,
  OWNED_SINCE_ANNOTATION,
  OWNER_ANNOTATION,
  OWNER_REFERENCES_ANNOTATION,
  PAUSED_ANNOTATION,
  PRESERVE_ANNOTATION,
  PROJECTED_KEYS_ANNOTATION,
  SILENT_SINCE_ANNOTATION,
  STAND_IN_ANNOTATION,
  UPSYNCED,
  UPSYNCED_FOR,
  WAVE,
} from './placement.ts'

interface Mark {
  readonly by: 'author' | 'center' | 'syncer'
  /** Whether the value on an object goes to its copy in a mailbox. */
  readonly toMailbox: boolean
  /** Whether the value in a mailbox goes to the cluster, and from there up. */
  readonly toCluster: boolean
  /** Whether a preview shows it. */
  readonly isShown: boolean
}

const authors: Mark = { by: 'author', toMailbox: true, toCluster: true, isShown: true }
/** The center's account of a copy. */
const account: Mark = { by: 'center', toMailbox: false, toCluster: false, isShown: false }
/** Notes of the center to the author. */
const note: Mark = { by: 'center', toMailbox: false, toCluster: false, isShown: false }

export const MARKS: Readonly<Record<string, Mark>> = {
  [EXPAND_ANNOTATION]: authors,
  [CUSTOMIZER_ANNOTATION]: authors,
  [PAUSED_ANNOTATION]: authors,
  [OVERWRITE]: authors,
  [CREATE_ONLY]: authors,
  [KEEP_ON_DELETE]: authors,
  [WAVE]: authors,
  [STAND_IN_ANNOTATION]: authors,
  [ADOPT]: { ...authors, toCluster: false },
  [LAST_APPLIED_ANNOTATION]: { ...authors, toCluster: false, isShown: false },
  [HAND_OVER_ANNOTATION]: { ...authors, toMailbox: false },
  [PROJECTED_KEYS_ANNOTATION]: account,
  [OWNER_ANNOTATION]: account,
  [OWNED_SINCE_ANNOTATION]: account,
  [OWNER_REFERENCES_ANNOTATION]: account,
  [LEFT_FIELDS_ANNOTATION]: account,
  [ASSOCIATED_ANNOTATION]: account,
  [IMPLIED_ANNOTATION]: account,
  [UPSYNCED_FOR]: account,
  [DIFFERENCES_ANNOTATION]: account,
  [LIVE_FIELDS_ANNOTATION]: account,
  [SILENT_SINCE_ANNOTATION]: account,
  [PRESERVE_ANNOTATION]: { ...account, toCluster: true, isShown: true },
  [EXECUTING_COUNT_ANNOTATION]: note,
  [CUSTOMIZATION_ERROR_ANNOTATION]: note,
  [CONFLICT_ANNOTATION]: note,
  [DOWNSYNCED]: { ...account, by: 'syncer' },
  [UPSYNCED]: { ...account, by: 'syncer' },
  [ASSOCIATED_WITH]: { ...account, by: 'syncer' },
}

const keysOf = (has: (mark: Mark) => boolean): ReadonlySet<string> =>
  new Set(Object.keys(MARKS).filter(key => has(MARKS[key]!)))
const NOT_TO_MAILBOX = keysOf(({ toMailbox }) => !toMailbox)
const NOT_TO_CLUSTER = keysOf(({ toCluster }) => !toCluster)
const NOT_SHOWN = keysOf(({ isShown }) => !isShown)
/** Annotations that the center alone writes. */
export const CENTER_MARKS: readonly string[] = [...keysOf(({ by }) => by === 'center')]
/** The center's account of what is in a mailbox: no cluster has a word in it. */
export const ACCOUNT_MARKS: readonly string[] = [...keysOf(({ by, toCluster }) => by === 'center' && !toCluster)]
/** They are no part of what an object's author wishes, so they make no new generation of it. */
export const NOTES: readonly string[] = [...keysOf(mark => mark === note)]

/** Whether a label or annotation is for Orrery to read: those that are not in the table, too. */
export function isOwnKey(key: string): boolean {
  return key.startsWith(`${EDGE_GROUP}/`) || key.startsWith('kubestellar.io/')
}

/** Whether the annotation of an object goes to its copy. */
export function goesToMailbox(key: string): boolean {
  return !isServersKey(key) && !NOT_TO_MAILBOX.has(key)
}

/** Whether the annotation of an object in a mailbox goes to the cluster; the same decides what of the cluster's goes up. */
export function goesToCluster(key: string): boolean {
  return !isServersKey(key) && !NOT_TO_CLUSTER.has(key)
}

/** Whether a preview shows the annotation. */
export function isShownMark(key: string): boolean {
  return !isServersKey(key) && !NOT_SHOWN.has(key)
}

/** Labels by which a server ties a Job to its Pods: each server makes its own. */
export const JOB_LABELS: readonly string[] = [
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
]
