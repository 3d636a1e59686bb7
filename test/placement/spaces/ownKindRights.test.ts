// Each of Orrery's kinds in a workload or inventory space is read by a role, unless it is the center's alone.
import t from 'tap'
import { groupResourceName } from '../../../src/apimachinery/object.ts'
import { LOGICAL_CLUSTERS, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { PLACEMENT_PREVIEWS } from '../../../src/placement/desks/placementPreview.ts'
import { OWN_KIND_RIGHTS } from '../../../src/placement/spaces/ownKindRights.ts'
import { SPACE_TYPES } from '../../../src/placement/spaces/spaceTypes.ts'
import { PLACEMENT_CONTENTS } from '../../../src/placement/words/placement.ts'

/** Spaces are read by rights of their own; a preview is only created; contents of revisions may hold Secrets. */
const UNREAD = [LOGICAL_CLUSTERS, WORKSPACES, PLACEMENT_PREVIEWS, PLACEMENT_CONTENTS].map(groupResourceName)

t.test('roles and types of space name the same kinds', async t => {
  const read = new Set(
    Object.values(OWN_KIND_RIGHTS)
      .flat()
      .flatMap(({ group, resources, verbs }) => (verbs === 'read' ? resources.map(each => `${each}.${group}`) : [])),
  )
  for (const type of ['workload', 'inventory'])
    for (const kind of SPACE_TYPES.get(type)!.serves!)
      t.equal(read.has(kind), !UNREAD.includes(kind), `${type}: ${kind}`)
})
