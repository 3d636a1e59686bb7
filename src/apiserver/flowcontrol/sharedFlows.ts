/**
 * The FlowSchemas and PriorityLevelConfigurations that the server brings along, as every space but the root shows them: to be
 * read. Those of the root are stored, and are what counts; what an administrator there has made of them is theirs to tell.
 */
import { str } from '../../apimachinery/fields.ts'
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { type SharedLayer, type SharedLayers, sharedConstants } from '../registry/sharedObjects.ts'
import { bootstrapLevels, bootstrapSchemas } from './bootstrapConfiguration.ts'
import { danglingCondition, FLOW_SCHEMAS, PRIORITY_LEVELS } from './flowConfiguration.ts'

/** `since`: RFC 3339, their creationTimestamp. `root`: id of the space that shows none of these. */
export function sharedFlows(since: string, root: string): SharedLayers {
  return new Map([
    ...elsewhere(FLOW_SCHEMAS, bootstrapSchemas(), since, root),
    ...elsewhere(PRIORITY_LEVELS, bootstrapLevels(), since, root),
  ])
}

function elsewhere(resource: GroupResource, objects: readonly KubeObject[], since: string, root: string): SharedLayers {
  const shown = objects.map(object => ({
    ...object,
    metadata: {
      ...object.metadata,
      uid: fixedUid(`${resource.resource} ${object.metadata.name}`),
      generation: 1,
      creationTimestamp: since,
    },
    status:
      object.kind === 'FlowSchema'
        ? {
            conditions: [
              {
                ...danglingCondition(str(object.spec, 'priorityLevelConfiguration', 'name'), true),
                lastTransitionTime: since,
              },
            ],
          }
        : {},
  }))
  const name = groupResourceName(resource)
  const all = sharedConstants(resource, shown, { changeable: false }).get(name)!
  const layer: SharedLayer = {
    changeable: false,
    has: (space, name) => space !== root && all.has(space, name),
    get: async (space, type, name) => (space === root ? undefined : all.get(space, type, name)),
    names: async (space, type, at) => (space === root ? [] : all.names(space, type, at)),
    list: async (space, type, wanted) => (space === root ? [] : all.list(space, type, wanted)),
  }
  return new Map([[name, layer]])
}
