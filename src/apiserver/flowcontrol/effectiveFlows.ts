/**
 * The effective FlowSchemas and PriorityLevelConfigurations: those of the root space, from the next request after the answer to their
 * author. Also the server's own, where they are absent (any more, or yet).
 */
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Store, Stored, StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import type { Logger } from '../request/logger.ts'
import { bootstrapLevels, bootstrapSchemas } from './bootstrapConfiguration.ts'
import { FLOW_SCHEMAS, PRIORITY_LEVELS, readFlowSchema, readPriorityLevel } from './flowConfiguration.ts'
import type { FlowControl } from './flowControl.ts'

interface EffectiveFlowsDeps {
  store: Pick<Store, 'project'>
  /** Id of the root space. */
  root: string
  flowControl: Pick<FlowControl, 'configure'>
}

type Named<T> = Map<string, T>

/** Bound on the logged names of FlowSchemas. */
const LOGGED = 20

/**
 * Tells of the FlowSchemas in effect that the server did not bring along: an operator shall not have to guess where requests go.
 */
export function logOwnFlows(flowControl: Pick<FlowControl, 'schemas'>, log: Pick<Logger, 'info'>): void {
  const brought = new Set(bootstrapSchemas().map(({ metadata }) => metadata.name))
  const own = flowControl.schemas.filter(({ spec }) => !brought.has(spec.name))
  if (own.length === 0) return
  const flowSchemas = own
    .slice(0, LOGGED)
    .map(({ spec }) => `${spec.name} (precedence ${spec.precedence}, level ${spec.level})`)
  log.info({ count: own.length, flowSchemas }, 'FlowSchemas of root take effect beside those of the server')
}

/** Follows the store from now on, as long as it is open. */
export function obeyFlows({ store, root, flowControl }: EffectiveFlowsDeps): void {
  let following = false
  const apply = (): void => {
    if (following) flowControl.configure([...schemas.values()], [...levels.values()])
  }
  const schemas = follow(store, { ...FLOW_SCHEMAS, space: root }, bootstrapSchemas(), readFlowSchema, apply)
  const levels = follow(store, { ...PRIORITY_LEVELS, space: root }, bootstrapLevels(), readPriorityLevel, apply)
  following = true
  apply()
}

function follow<T>(
  store: Pick<Store, 'project'>,
  range: { space: string; group: string; resource: string },
  builtin: readonly KubeObject[],
  read: (object: KubeObject) => T,
  changed: () => void,
): Named<T> {
  const fallback: Named<T> = new Map(
    builtin.map(object => {
      const name = object.metadata.name ?? ''
      const uid = fixedUid(`${range.resource} ${name}`)
      return [name, read({ ...object, metadata: { ...object.metadata, uid } })]
    }),
  )
  const named: Named<T> = new Map()
  const put = (stored: Stored): void => {
    named.set(stored.key.name, read(decodeObject(stored)))
  }
  store.project(range, {
    reset(items) {
      named.clear()
      for (const [name, value] of fallback) named.set(name, value)
      for (const stored of items) put(stored)
      changed()
    },
    apply({ type, key, stored }: StoreEvent) {
      if (type === 'put') put(stored)
      else {
        named.delete(key.name)
        const builtin = fallback.get(key.name)
        if (builtin) named.set(key.name, builtin)
      }
      changed()
    },
  })
  return named
}
