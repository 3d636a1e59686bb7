/**
 * ComponentStatuses, which Kubernetes has deprecated and tools still read: the store of the server is its one component. Scheduler and
 * controller manager are no processes of their own.
 */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { type SharedLayer, type SharedLayers, sharedAs } from './sharedObjects.ts'

const COMPONENT_STATUSES = { group: '', resource: 'componentstatuses' } as const
/** The name that upstream gives to the first of its stores. */
const STORE = 'etcd-0'

/** @param takesWrites whether the store is well */
export function componentStatuses(takesWrites: () => Promise<boolean>): SharedLayers {
  const object = async (): Promise<KubeObject> => {
    const isWell = await takesWrites()
    const condition = {
      type: 'Healthy',
      status: isWell ? 'True' : 'False',
      message: isWell ? 'ok' : 'the store takes no writes',
    }
    return { apiVersion: 'v1', kind: 'ComponentStatus', metadata: { name: STORE }, conditions: [condition] }
  }
  const layer: SharedLayer = {
    changeable: false,
    has: (_space, name) => name === STORE,
    async get(space, type, name) {
      return name === STORE ? sharedAs(space, type, await object()) : undefined
    },
    names: async () => [STORE],
    async list(space, type, { names }) {
      const shown = await object()
      return names.map(() => sharedAs(space, type, shown))
    },
  }
  return new Map([[groupResourceName(COMPONENT_STATUSES), layer]])
}
