/** Defaults of docs/reference/limits.md, from the constants of this room. `npm run pages` writes them there. */
import { bytes, count, duration, type Limits } from '../apimachinery/limits.ts'
import * as associated from './associated/associated.ts'
import * as removalLimits from './brake/removalLimits.ts'
import * as upsyncGrants from './consent/upsyncGrants.ts'
import * as carriedOwners from './content/carriedOwners.ts'
import * as customizerRules from './content/customizerRules.ts'
import * as leftFields from './content/leftFields.ts'
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
  'objects; bytes; SyncTargets of a space, with all spaces below it': `${count(spaceBudget.DEFAULT_SPACE_OBJECTS)}; ${bytes(spaceBudget.DEFAULT_SPACE_BYTES)}; ${count(spaceBudget.DEFAULT_SYNC_TARGETS)}. None for \`root\` and \`root:espw\``,
  'objects; bytes that a syncer carries up to a mailbox': `${count(spaceBudget.DEFAULT_UPSYNCED_OBJECTS)}; ${bytes(spaceBudget.DEFAULT_UPSYNCED_BYTES)}`,
  'associated objects of a placement in one cluster; their bytes; Events of one of them': `${count(associated.MAX_ASSOCIATED)}; ${bytes(associated.MAX_ASSOCIATED_BYTES)}; ${count(associated.MAX_ASSOCIATED_EVENTS)}`,
  "`jsonPointers` of an EdgePlacement's `ignoreDifferences`; characters of one": `${count(leftFields.MAX_POINTERS)}; ${count(leftFields.MAX_POINTER_LENGTH)}`,
  'patches of a Customizer; bytes of one; values in its `parameters`': `${count(customizerRules.MAX_PATCHES)}; ${bytes(customizerRules.MAX_PATCH_BYTES)}; ${count(customizerRules.MAX_VALUES)}`,
  'StatusCollectors that one EdgePlacement names; errors of each sort in an answer': `${count(placementSpec.MAX_COLLECTORS)}; ${count(combination.MAX_ERRORS)}`,
  'work of a StatusCollector for one cluster; characters of a value': `${count(collector.MAX_COLLECTING_COST)} units of CEL; ${count(columnValue.MAX_TEXT)}`,
  'parts of the values of a StatusCollector for one cluster; their characters; characters of its rows as JSON': `${count(columnValue.MAX_PARTS)}; ${count(columnValue.MAX_CHARACTERS)}; ${count(combination.MAX_ROWS)}`,
  'owners of an object that it refers to in a cluster': count(carriedOwners.MAX_CARRIED_OWNERS),
  'what a syncer lists of what is not so in its cluster; characters of each message': `${count(outcome.MAX_EXCEPTIONS)}; ${count(outcome.MAX_MESSAGE)}`,
  'objects of a PlacementPreview; all of them as JSON; at the same time, of one space': `${count(placementPreview.MAX_PREVIEWED)}; ${bytes(placementPreview.MAX_PREVIEW_BYTES)}; ${count(placementPreview.MAX_PREVIEWS_AT_ONCE)}`,
  'clusters that a PlacementPreview looks at; its work; contents that it shows; objects beyond its own; copies that it counts of what EdgePlacements move': `${count(placementPreview.MAX_PREVIEW_DESTINATIONS)}; ${count(placementPreview.MAX_PREVIEW_WORK)} values; ${bytes(placementPreview.MAX_PREVIEW_CONTENT_BYTES)}; ${count(placementPreview.MAX_PREVIEW_MOVED)}; ${count(placementPreview.MAX_PREVIEW_PAIRS)}`,
  'work for the `Warning` of what an EdgePlacement takes from clusters (pairs of object and cluster, tests, selectors); such writes of a space at once': `${count(placementPreview.MAX_CONSEQUENCE_WORK)}; ${count(placementPreview.MAX_PREVIEWS_AT_ONCE)}`,
  'objects of a space without EdgePlacement that are read for a PlacementPreview with its first; what is remembered of them': `${count(placementPreview.MAX_PREVIEW_READ)}; ${bytes(placementPreview.MAX_PREVIEW_READ_BYTES)} as JSON`,
  'clusters whose live objects one PlacementPreview reads; time for an answer; its JSON, for each side; questions that wait, and those of one tenant': `${count(liveObjects.MAX_LIVE_CLUSTERS)}; ${duration(liveObjects.LIVE_WAIT_MS)}; ${bytes(liveObjects.MAX_LIVE_BYTES)}; ${count(liveObjects.MAX_LIVE_WAITING)}; ${count(liveObjects.MAX_TENANT_WAITING)}`,
  'kinds that a SyncTarget lists of its cluster; as JSON': `${count(offer.MAX_OFFERED)}; ${bytes(offer.MAX_OFFER_BYTES)}`,
  "selectors, labels, expressions and values of an EdgePlacement's `locationSelectors`; of `downsync`; sets of `upsync`": `${count(selectorParts.MAX_SELECTOR_PARTS)} each`,
  'destinations in a SinglePlacementSlice': count(placementSlices.MAX_DESTINATIONS),
  'work to cut the upsync sets of an EdgePlacement to what is granted': `${count(upsyncGrants.MAX_STEPS)} items of lists`,
  "upsync sets of one space in a cluster's SyncerConfig, after they are cut to the grants": `${count(upsyncShare.MAX_SPACE_UPSYNC)} bytes as JSON`,
  'copies of a space that go within 10 s without having been deleted by name; all of them in a cluster': `${count(removalLimits.MAX_REMOVED)}; ${count(removalLimits.MAX_EMPTIED)}`,
}
