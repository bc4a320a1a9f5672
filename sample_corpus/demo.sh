# The main job on sample_corpus: `make demo` runs this with `setsearch` on the path.
set -e
db=demo.db
rm -f $db $db-wal $db-shm
run() { printf '\n$ setsearch %s\n' "$*"; setsearch "$@"; }

run index $db sample_corpus/wordnet.jsonl
echo; echo "Words that belong with a few words:"
run expand $db hydrogen helium oxygen --table
run expand $db measles mumps influenza --table
run expand $db mozart bach beethoven --table
run expand $db zeus apollo --table
echo; echo "Entries that belong with a few entries:"
run expand $db violin cello --items documents --table
run expand $db waltz tango --items documents --table
run expand $db lion tiger --items documents --table
echo; echo "And why:"
run explain $db guitar violin cello --items documents --table
