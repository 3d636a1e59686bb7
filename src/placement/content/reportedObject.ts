/**
 * Objects of a mailbox as one space sees them: copies that it owns, and objects carried up for it.
 * The marks of the center stay in the mailbox, and so do field managers, which name others. Pure.
 */
import { labelValue } from '../../apimachinery/nameRules.ts'
import { isRecord, type KubeObject, type ObjectMeta } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { FieldDifference, LiveField } from '../outcome/fieldDifference.ts'
import { CENTER_MARKS } from '../words/marks.ts'
import {
  ASSOCIATED_WITH,
  DIFFERENCES_ANNOTATION,
  isProjected,
  LIVE_FIELDS_ANNOTATION,
  LOCATION_LABEL,
  OWNER_ANNOTATION,
  PROJECTED_LABEL,
  SILENT_SINCE_ANNOTATION,
  UPSYNCED,
  UPSYNCED_FOR,
} from '../words/placement.ts'
import { annotationJson } from './annotationJson.ts'
import { withLiveFields } from './liveFields.ts'

/** The space that reads, and the name by which it knows the cluster. */
export interface ReportedTo {
  /** Logical-cluster id. */
  readonly space: string
  readonly location: string
}

/** Findings about an object beside what its mailbox holds. */
export interface ReportedMarks {
  /** RFC 3339: the last word of its cluster, which is silent now. */
  readonly silentSince?: string
  /** Fields that the cluster does not hold as they were sent. */
  readonly differences?: readonly FieldDifference[]
  /** Fields that are left to the cluster. */
  readonly liveFields?: readonly LiveField[]
}

const HIDDEN: ReadonlySet<string> = new Set(CENTER_MARKS)

/**
 * The object as the space sees it; `undefined`: it is not the space's to see.
 * @param replicas path of the number of replicas of its kind, such as `spec.replicas`
 */
export function reportedObject(
  object: Readonly<KubeObject>,
  to: ReportedTo,
  marks?: ReportedMarks,
  replicas?: string,
): KubeObject | undefined {
  const metadata = reportedMetadata(object.metadata, to, marks)
  return metadata && { ...(marks?.liveFields ? withLiveFields(object, marks.liveFields, replicas) : object), metadata }
}

/** The same of its metadata. Without marks nothing else of the object is another. */
export function reportedMetadata(
  metadata: Readonly<ObjectMeta>,
  to: ReportedTo,
  marks?: ReportedMarks,
): ObjectMeta | undefined {
  if (!isReportedTo(metadata, to.space)) return undefined
  const { managedFields: _managers, labels, annotations, ...rest } = metadata
  return { ...rest, labels: labelsOf(labels, to), annotations: annotationsOf(annotations, to, marks) }
}

/** The location of the cluster that reports it. */
export function reportedLocation({ metadata }: Readonly<KubeObject>): string {
  return metadata.annotations?.[LOCATION_LABEL] ?? ''
}

/** The last word of its cluster, where that is silent. */
export function reportedSilence({ metadata }: Readonly<KubeObject>): string | undefined {
  return metadata.annotations?.[SILENT_SINCE_ANNOTATION]
}

/** A copy is its owner's alone, whatever else it says. */
function isReportedTo(metadata: Readonly<ObjectMeta>, space: string): boolean {
  const { annotations } = metadata
  if (isProjected({ metadata })) return annotations?.[OWNER_ANNOTATION] === space
  // the center keeps that mark right on what was carried up, and on nothing else
  return annotations?.[UPSYNCED] !== undefined && annotations[UPSYNCED_FOR]?.split(',').includes(space) === true
}

function labelsOf(labels: KubeObject['metadata']['labels'], { location }: ReportedTo): Record<string, string> {
  const { [PROJECTED_LABEL]: _mark, [LOCATION_LABEL]: _forged, ...own } = labels ?? {}
  return labelValue(location).length === 0 ? { ...own, [LOCATION_LABEL]: location } : own
}

function annotationsOf(
  annotations: KubeObject['metadata']['annotations'],
  { space, location }: ReportedTo,
  { silentSince, differences, liveFields }: ReportedMarks = {},
): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const name in annotations) if (!HIDDEN.has(name)) shown[name] = annotations[name]!
  // spaces that ask for the object by upsync sets do not own the placement
  const account = annotationJson({ metadata: { annotations: annotations ?? {} } }, ASSOCIATED_WITH)
  if (isRecord(account)) shown[ASSOCIATED_WITH] = JSON.stringify({ ...account, placement: '' })
  shown[CLUSTER_ANNOTATION] = space
  shown[LOCATION_LABEL] = location
  if (silentSince !== undefined) shown[SILENT_SINCE_ANNOTATION] = silentSince
  if (differences) shown[DIFFERENCES_ANNOTATION] = JSON.stringify(differences)
  if (liveFields) shown[LIVE_FIELDS_ANNOTATION] = JSON.stringify(liveFields)
  return shown
}
