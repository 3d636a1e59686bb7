# What the programs in this folder share. They set `home`, the folder with package.json, and call `run`.

# run NAME [ARGUMENT...]: a clone runs its sources, on the Node release that package.json pins, whatever the machine has. What is
# released has no such files: see tools/release/. The same flags for all: code that was compiled under others is not taken
# from the cache. That malloc is asked by an experimental module needs no warning. A small nursery (4 MiB instead of 16) keeps
# garbage from counting as memory in use; one optimizing compiler at a time leaves less working memory behind that malloc does
# not give back. Neither costs speed.
# The nursery of a server has that size from the beginning: while it starts, nearly all that it makes stays.
# A syncer lives beside its cluster, on machines that are small, and has little to compute: there memory counts before speed.
# Neither optimizing compiler earns there what its code and feedback take; a nursery of half the size would be emptied too often.
run() {
  name=$1
  shift
  more=
  case "${1-}" in
    start) more='--min-semi-space-size=4' ;;
    syncer) more='--max-semi-space-size=2 --optimize-for-size --no-opt --no-maglev' ;;
  esac
  node="$home/node_modules/.bin/node"
  if [ -x "$node" ]; then
    exec "$node" --disable-warning=ExperimentalWarning --max-semi-space-size=4 --concurrent-turbofan-max-threads=1 $more --require "$home/src/program/sourceImports.js" "$home/src/cli/$name.js" "$@"
  fi
  clone=$(cd -- "$home" && pwd)
  echo "orrery: there is no Node.js in $clone/node_modules: run \"npm ci\" in $clone, without --omit=optional" >&2
  exit 1
}
