# The main job on sample_corpus: `make demo` runs this with `setsearch` on the path.
set -e
db=demo.db
rm -f $db $db-wal $db-shm
run() {
  printf '\n$ setsearch'
  for word; do case $word in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac; done
  echo
  setsearch "$@"
}

run index $db sample_corpus/wordnet.jsonl
echo; echo "Words that belong with a few words:"
run expand $db red blue green --table
run expand $db zeus apollo --table
run expand $db hydrogen helium oxygen --table
run expand $db france germany --table
echo; echo "Words that have to do with a few words, as in the paper:"
run expand $db mozart beethoven --by documents --model bernoulli --table
echo; echo "Entries that belong with a few entries, and no more than belong:"
run expand $db violin cello --items documents --table
run expand $db waltz tango --items documents --cut --table
run expand $db lion tiger --items documents --exclude 'tiger cub' --table
echo; echo "And why:"
run explain $db guitar violin cello --items documents --table
