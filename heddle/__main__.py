from heddle.main import main

main()
