/** Steps that are refused, field by field. Nothing is stored: all are tried. */
import { post, type Rest, type Step } from '../../script.ts'
import { of } from '../bodies.ts'

const TRY = '?dryRun=All'
export const IN = 'namespaces/{ns}'

export interface Refused {
  apiVersion: string
  kind: string
  path: string
  /** Common part of every body of the kind. */
  base?: object
}

/** One refused creation for each body; a body may come with what its step says more. */
export const refuse = (
  { apiVersion, kind, path, base = {} }: Refused,
  ...bodies: readonly (object | readonly [object, Rest])[]
): Step[] =>
  bodies.map(each => {
    const [body, rest] = (Array.isArray(each) ? each : [each, {}]) as [Record<string, unknown>, Rest]
    const { metadata, ...fields } = body
    return post(
      `${path}${TRY}`,
      of(apiVersion, kind, kind.toLowerCase(), { ...base, ...fields }, metadata as object),
      rest,
    )
  })
export const since = (release: string, body: object): readonly [object, Rest] => [body, { since: release }]
/** Refused as well, in other words. */
export const unlike = (why: string, body: object): readonly [object, Rest] => [
  body,
  { unlike120: { '?body.details.causes': why, '?body.message': why } },
]
/** Difference of 1.20, where these kinds live in another group. */
const OTHER_GROUP = { '?body.message': 'it names the group extensions', '?body.details.group': 'it names extensions' }
export const ofOtherGroup = (steps: readonly Step[]): Step[] =>
  steps.map(step => ({ ...step, unlike120: { ...step.unlike120, ...OTHER_GROUP } }))
/** A bundle of authorities that is none. */
export const CA = Buffer.from('ca').toString('base64')
