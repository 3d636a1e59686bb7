/** Limits of this room for docs/reference/limits.md, which `npm run pages` writes. */
import { bytes, count, duration, type Limits } from '../apimachinery/limits.ts'
import * as associated from './associated/associated.ts'
import * as removalLimits from './brake/removalLimits.ts'
import * as upsyncGrants from './consent/upsyncGrants.ts'
import * as carriedOwners from './content/carriedOwners.ts'
import * as customizerRules from './content/customizerRules.ts'
import * as leftFields from './content/leftFields.ts'
import * as comparedRevisions from './desks/comparedRevisions.ts'
import * as liveObjects from './desks/liveObjects.ts'
import * as placementPreview from './desks/placementPreview.ts'
import * as offer from './outcome/offer.ts'
import * as outcome from './outcome/outcome.ts'
import * as placementSpec from './select/placementSpec.ts'
import * as selectorParts from './select/selectorParts.ts'
import * as upsyncShare from './select/upsyncShare.ts'
import * as spaceBudget from './spaces/spaceBudget.ts'
import * as collector from './summary/collector.ts'
import * as columnValue from './summary/columnValue.ts'
import * as combination from './summary/combination.ts'
import * as placementSlices from './words/placementSlices.ts'

export const LIMITS: Limits = {
  objects: {
    'objects; bytes; SyncTargets of a space, with all spaces below it': [
      `${count(spaceBudget.DEFAULT_SPACE_OBJECTS)}; ${bytes(spaceBudget.DEFAULT_SPACE_BYTES)}; ${count(spaceBudget.DEFAULT_SYNC_TARGETS)}. None for \`root\` and \`root:espw\``,
      '`403 Forbidden`: `exceeded budget of space …`',
      'annotations of its Workspace: [Budgets](../guard.md#budgets)',
    ],
    'objects; bytes that a syncer carries up to a mailbox': [
      `${count(spaceBudget.DEFAULT_UPSYNCED_OBJECTS)}; ${bytes(spaceBudget.DEFAULT_UPSYNCED_BYTES)}`,
      '`403 Forbidden`: `exceeded budget of space …`',
      'annotations of its Workspace: [Budgets](../guard.md#budgets)',
    ],
  },
  placement: {
    'patches of a Customizer; bytes of one; values in its `parameters`': [
      `${count(customizerRules.MAX_PATCHES)}; ${bytes(customizerRules.MAX_PATCH_BYTES)}; ${count(customizerRules.MAX_VALUES)}`,
      '`422 Invalid`',
      'fixed; several Customizers',
    ],
    "`jsonPointers` of an EdgePlacement's `ignoreDifferences`; characters of one": [
      `${count(leftFields.MAX_POINTERS)}; ${count(leftFields.MAX_POINTER_LENGTH)}`,
      '`422 Invalid`',
      'fixed; whole fields, several placements',
    ],
    'StatusCollectors that one EdgePlacement names; errors of each sort in an answer': [
      `${count(placementSpec.MAX_COLLECTORS)}; ${count(combination.MAX_ERRORS)}`,
      '`422 Invalid`; the rest is counted',
      'several placements',
    ],
    'work of a StatusCollector for one cluster; characters of a value': [
      `${count(collector.MAX_COLLECTING_COST)} units of CEL; ${count(columnValue.MAX_TEXT)}`,
      '`422 Invalid`, or an error of the cluster in the answer; the middle is left out',
      'fewer loops; fixed',
    ],
    'parts of the values of a StatusCollector for one cluster; their characters; characters of its rows as JSON': [
      `${count(columnValue.MAX_PARTS)}; ${count(columnValue.MAX_CHARACTERS)}; ${count(combination.MAX_ROWS)}`,
      'an error of the cluster in the answer; the rest of the rows is counted',
      'fewer columns; fixed',
    ],
    'associated objects of a placement in one cluster; their bytes; Events of one of them': [
      `${count(associated.MAX_ASSOCIATED)}; ${bytes(associated.MAX_ASSOCIATED_BYTES)}; ${count(associated.MAX_ASSOCIATED_EVENTS)}`,
      'the rest stays in the cluster; the EdgePlacement counts it',
      'fewer kinds, or smaller EdgePlacements',
    ],
    'owners of an object that it refers to in a cluster': [
      count(carriedOwners.MAX_CARRIED_OWNERS),
      'those behind are left out',
      'fixed',
    ],
    "selectors, labels, expressions and values of an EdgePlacement's `locationSelectors`; of `downsync`; sets of `upsync`":
      [
        `${count(selectorParts.MAX_SELECTOR_PARTS)} each`,
        'those behind count for nothing, and an annotation says so',
        'fixed; several placements',
      ],
    'destinations in a SinglePlacementSlice': [
      count(placementSlices.MAX_DESTINATIONS),
      'the placement gets [further slices](kinds/singleplacementslice.md)',
      'fixed',
    ],
    'work to cut the upsync sets of an EdgePlacement to what is granted': [
      `${count(upsyncGrants.MAX_STEPS)} items of lists`,
      'the sets behind are not carried up; the EdgePlacement says so',
      'fewer or smaller sets, fewer grants',
    ],
    "upsync sets of one space in a cluster's SyncerConfig, after they are cut to the grants": [
      `${count(upsyncShare.MAX_SPACE_UPSYNC)} bytes as JSON`,
      'those behind are not carried up; the EdgePlacement says so',
      'fewer names',
    ],
    'copies of a space that go within 10 s without having been deleted by name; all of them in a cluster': [
      `${count(removalLimits.MAX_REMOVED)}; ${count(removalLimits.MAX_EMPTIED)}`,
      'they stay, and the EdgePlacement [says so](../brake.md#the-brake)',
      'fixed; confirm it',
    ],
    'what a syncer lists of what is not so in its cluster; characters of each message': [
      `${count(outcome.MAX_EXCEPTIONS)}; ${count(outcome.MAX_MESSAGE)}`,
      'the rest is counted by state, and none of it is called applied. Copies that are `Finished`, or `Applied` with differences, give way first and count as `Applied`',
      'mend what is listed; fixed',
    ],
    'objects of a PlacementPreview; all of them as JSON; at the same time, of one space': [
      `${count(placementPreview.MAX_PREVIEWED)}; ${bytes(placementPreview.MAX_PREVIEW_BYTES)}; ${count(placementPreview.MAX_PREVIEWS_AT_ONCE)}`,
      '`400 Bad Request`; `429 Too Many Requests`',
      'several previews, which is what `kubectl kubestellar preview` does',
    ],
    'clusters that a PlacementPreview looks at; its work; contents that it shows; objects beyond its own; copies that it counts of what EdgePlacements move':
      [
        `${count(placementPreview.MAX_PREVIEW_DESTINATIONS)}; ${count(placementPreview.MAX_PREVIEW_WORK)} values; ${bytes(placementPreview.MAX_PREVIEW_CONTENT_BYTES)}; ${count(placementPreview.MAX_PREVIEW_MOVED)}; ${count(placementPreview.MAX_PREVIEW_PAIRS)}`,
        'the rest is `Unknown`, or counted without content',
        'fewer objects',
      ],
    'objects of two revisions that a PlacementPreview compares; their contents': [
      `${count(comparedRevisions.MAX_COMPARED)}; ${bytes(comparedRevisions.MAX_COMPARED_BYTES)}`,
      'the rest is counted',
      'objects by name',
    ],
    'work for the `Warning` of what an EdgePlacement takes from clusters (pairs of object and cluster, tests, selectors); such writes of a space at once':
      [
        `${count(placementPreview.MAX_CONSEQUENCE_WORK)}; ${count(placementPreview.MAX_PREVIEWS_AT_ONCE)}`,
        'it counts "at least" so many, or is left out',
        'fixed',
      ],
    'objects of a space without EdgePlacement that are read for a PlacementPreview with its first; what is remembered of them':
      [
        `${count(placementPreview.MAX_PREVIEW_READ)}; ${bytes(placementPreview.MAX_PREVIEW_READ_BYTES)} as JSON`,
        'their placement is unknown, and the answer says so',
        'name them in the preview',
      ],
    'clusters whose live objects one PlacementPreview reads; time for an answer; its JSON, for each side; questions that wait, and those of one tenant':
      [
        `${count(liveObjects.MAX_LIVE_CLUSTERS)}; ${duration(liveObjects.LIVE_WAIT_MS)}; ${bytes(liveObjects.MAX_LIVE_BYTES)}; ${count(liveObjects.MAX_LIVE_WAITING)}; ${count(liveObjects.MAX_TENANT_WAITING)}`,
        '`Unknown`, with the reason; a larger answer has no content',
        'ask about one location; ask again',
      ],
    'kinds that a SyncTarget lists of its cluster; as JSON': [
      `${count(offer.MAX_OFFERED)}; ${bytes(offer.MAX_OFFER_BYTES)}`,
      'the rest is counted',
      'fixed',
    ],
  },
}
